# /// answer
# title = "The model stays in training mode"
#
# [fails]
# once-tests = ["training mode"]
# ///

# %% role="changes" id="evaluate"
# -    model.eval()
