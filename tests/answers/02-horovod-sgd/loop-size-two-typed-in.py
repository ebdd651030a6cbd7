# /// answer
# title = "The shards are typed in for two ranks"
#
# [fails]
# horovod-shards-tests = ["not disjoint"]
# horovod-serial-tests = ["steps"]
# ///

# %% role="changes" id="train-horovod"
# -    x, y = shard(x, y)
# +    x, y = x[hvd.rank() :: 2], y[hvd.rank() :: 2]
