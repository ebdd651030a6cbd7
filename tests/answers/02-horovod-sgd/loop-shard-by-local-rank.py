# /// answer
# title = "The shard is that of the local rank: right on one node"
#
# [fails]
# horovod-shards-tests = ["not disjoint"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -    x, y = shard(x, y)
# +    x, y = x[hvd.local_rank() :: hvd.local_size()], y[hvd.local_rank() :: hvd.local_size()]
