# /// answer
# title = "No accuracy is measured"
#
# [fails]
# train-tests = ["metrics="]
# ///

# %% role="changes" id="train"
# -        metrics=["accuracy"],
# +        metrics=[],
