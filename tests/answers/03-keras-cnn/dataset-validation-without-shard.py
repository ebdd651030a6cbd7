# /// answer
# title = "Only the files for training are shared out"
# consequences = ["train-tests"]
#
# [fails]
# shards-tests = ["no shard", "in validation"]
# ///

# %% role="changes" id="make-dataset"
# -    files = files[hvd.rank() :: hvd.size()]
# +    if training:
# +        files = files[hvd.rank() :: hvd.size()]
