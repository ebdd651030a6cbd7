# /// answer
# title = "One rank of each node writes logs"
#
# [fails]
# logs-tests = ["rank 0 alone"]
# ///

# %% role="changes" id="train"
# -    if hvd.rank() == 0:
# +    if hvd.local_rank() == 0:
