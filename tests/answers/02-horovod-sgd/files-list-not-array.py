# /// answer
# title = "Rank 0 writes its history as text under the name asked for"
#
# [fails]
# save-history-tests = ["np.save"]
# ///

# %% role="changes" id="save-history"
# -        np.save(folder / "history.npy", history)
# +        (folder / "history.npy").write_text(str(history))
