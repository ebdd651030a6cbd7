# /// answer
# title = "No shard: every rank takes the whole global batch"
# consequences = ["horovod-serial-tests"]
#
# [fails]
# horovod-shards-tests = ["no shard"]
# ///

# %% role="changes" id="train-horovod"
# -    x, y = shard(x, y)
# +    batch_size = batch_size * hvd.size()
