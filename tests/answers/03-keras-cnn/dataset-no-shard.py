# /// answer
# title = "Every rank reads all files"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# shards-tests = ["no shard"]
# ///

# %% role="changes" id="make-dataset"
# -    files = files[hvd.rank() :: hvd.size()]
