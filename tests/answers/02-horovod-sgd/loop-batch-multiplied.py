# /// answer
# title = "The batch of each rank is multiplied by the number of ranks"
#
# [fails]
# horovod-serial-tests = ["is batch_size used"]
# ///

# %% role="changes" id="train-horovod"
# -    x, y = shard(x, y)
# +    x, y = shard(x, y)
# +    batch_size = batch_size * hvd.size()
