# /// answer
# title = "The first rank of every node writes"
#
# [fails]
# save-history-tests = ["rank 0 alone"]
# ///

# %% role="changes" id="save-history"
# -    if hvd.rank() == 0:
# +    if hvd.local_rank() == 0:
