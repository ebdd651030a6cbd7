# /// answer
# title = "Shards as many as the node has ranks"
# consequences = ["train-tests"]
#
# [fails]
# shards-tests = ["used by several ranks"]
# ///

# %% role="changes" id="make-dataset"
# -    files = files[hvd.rank() :: hvd.size()]
# +    files = files[hvd.local_rank() :: hvd.local_size()]
