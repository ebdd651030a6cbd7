# %% files-from-every-node
# title = "The first rank of every node writes"
# fails.save-history-tests = ["writers.not-rank-0"]
# -    if hvd.rank() == 0:
# +    if hvd.local_rank() == 0:

# %% files-list-not-array
# title = "Rank 0 writes its history as text under the name asked for"
# fails.save-history-tests = ["history.no-array"]
# -        np.save(folder / "history.npy", history)
# +        (folder / "history.npy").write_text(str(history))
