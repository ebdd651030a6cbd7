# %% files-folder-on-all-ranks
# title = "Every rank makes the folder where it is missing"
# fails.save-history-tests = ["writers.folder"]
# +    folder.mkdir(parents=True, exist_ok=True)
#      if hvd.rank() == 0:

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

# %% files-not-overwritten
# title = "A file that is there already is left as it is"
# fails.save-history-tests = ["history.wrong"]
# -    if hvd.rank() == 0:
# +    if hvd.rank() == 0 and not (folder / "history.npy").exists():

# %% files-removed-by-all
# title = "Every rank removes an older file first"
# fails.save-history-tests = ["writers.older-file"]
# -    if hvd.rank() == 0:
# +    (folder / "history.npy").unlink(missing_ok=True)
# +    if hvd.rank() == 0:

# %% files-wait-for-all
# title = "All ranks wait until rank 0 has written"
# fails.save-history-tests = ["writers.waiting"]
#          np.save(folder / "history.npy", history)
# +    hvd.allreduce(tf.constant(0.0))
