# /// answer
# title = "The world size is typed in"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# shards-tests = ["several ranks"]
# ///

# %% role="changes" id="make-dataset"
# -    files = files[hvd.rank() :: hvd.size()]
# +    files = files[hvd.rank() % 2 :: 2]
