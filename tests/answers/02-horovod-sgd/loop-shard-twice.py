# /// answer
# title = "The pieces are sharded once more: most samples are lost"
#
# [fails]
# horovod-shards-tests = ["not complete"]
# horovod-serial-tests = ["steps"]
# ///

# %% role="changes" id="train-horovod"
# -    x, y = shard(x, y)
# +    x, y = shard(*shard(x, y))
