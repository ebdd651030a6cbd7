# /// answer
# title = "The last rank writes instead of rank 0"
# verdict = "wrong"
#
# [fails]
# save-history-tests = ["rank 0 alone"]
# ///

# %% role="answer" id="save-history"
def save_history(history, folder):
    if hvd.rank() == hvd.size() - 1:
        np.save(folder / "history.npy", history)
