# /// answer
# title = "The first rank of each node writes"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# files-tests = ["ranks [0, 2]"]
# ///

# %% role="changes" id="make-callbacks"
# -    if hvd.rank() == 0:
# +    if hvd.local_rank() == 0:
