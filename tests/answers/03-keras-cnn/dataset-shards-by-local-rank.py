# /// answer
# title = "The local rank takes the shard: right on one node, twice the same on two"
# consequences = ["train-tests"]
#
# [fails]
# shards-tests = ["used by several ranks"]
# ///

# %% role="changes" id="make-dataset"
# -    files = files[hvd.rank() :: hvd.size()]
# +    files = files[hvd.local_rank() :: hvd.size()]
