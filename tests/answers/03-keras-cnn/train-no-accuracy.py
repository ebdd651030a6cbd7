# /// answer
# title = "Compiled without the metric"
#
# [fails]
# train-tests = ["accuracy"]
# ///

# %% role="changes" id="train"
# -        metrics=["accuracy"],
