# /// answer
# title = "Every rank writes logs"
#
# [fails]
# logs-tests = ["rank 0 alone"]
# ///

# %% role="changes" id="train"
# -    if hvd.rank() == 0:
# +    if hvd.rank() >= 0:
