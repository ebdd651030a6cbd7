# /// answer
# title = "Each node takes a shard, and its ranks the same one"
#
# [fails]
# horovod-shards-tests = ["not disjoint"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -    x, y = shard(x, y)
# +    x, y = x[hvd.cross_rank() :: hvd.cross_size()], y[hvd.cross_rank() :: hvd.cross_size()]
