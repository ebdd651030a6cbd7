# /// answer
# title = "The last rank writes instead of rank 0"
#
# [fails]
# save-history-tests = ["rank 0 alone"]
# ///

# %% role="changes" id="save-history"
# -    if hvd.rank() == 0:
# +    if hvd.rank() == hvd.size() - 1:
