# /// answer
# title = "The last rank writes, so that rank 0 has less to do"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# files-tests = ["rank 0 alone"]
# ///

# %% role="changes" id="make-callbacks"
# -    if hvd.rank() == 0:
# +    if hvd.rank() == hvd.size() - 1:
