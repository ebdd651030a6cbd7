# /// answer
# title = "All ranks take shard 0"
#
# [fails]
# horovod-shards-tests = ["not disjoint"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -    x, y = shard(x, y)
# +    x, y = x[0 :: hvd.size()], y[0 :: hvd.size()]
