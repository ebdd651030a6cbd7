# /// answer
# title = "Rank 0 writes its history as text under the name asked for"
# verdict = "wrong"
#
# [fails]
# save-history-tests = ["np.save"]
# ///

# %% role="answer" id="save-history"
def save_history(history, folder):
    if hvd.rank() == 0:
        (folder / "history.npy").write_text(str(history))
