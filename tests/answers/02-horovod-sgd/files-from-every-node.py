# /// answer
# title = "The first rank of every node writes"
# verdict = "wrong"
#
# [fails]
# save-history-tests = ["rank 0 alone"]
# ///

# %% role="answer" id="save-history"
def save_history(history, folder):
    if hvd.local_rank() == 0:
        np.save(folder / "history.npy", history)
