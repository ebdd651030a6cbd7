# /// answer
# title = "Every rank writes"
#
# [fails]
# save-history-tests = ["rank 0 alone"]
# ///

# %% role="answer" id="save-history"
def save_history(history, folder):
    np.save(folder / "history.npy", history)
