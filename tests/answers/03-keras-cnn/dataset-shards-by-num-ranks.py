# /// answer
# title = "The notebook's num_ranks is taken for the world size"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# shards-tests = ["several ranks"]
# ///

# %% role="changes" id="make-dataset"
# -    files = files[hvd.rank() :: hvd.size()]
# +    files = files[hvd.rank() % num_ranks :: num_ranks]
