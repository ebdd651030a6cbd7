# /// answer
# title = "Contiguous shards whose rest goes to the last rank, one sample at a time"
#
# [fails]
# horovod-serial-tests = ["steps"]
# ///

# %% role="changes" id="train-horovod"
# -    x, y = shard(x, y)
# +    count = len(x) // hvd.size()
# +    end = None if hvd.rank() == hvd.size() - 1 else (hvd.rank() + 1) * count
# +    x, y, batch_size = x[hvd.rank() * count : end], y[hvd.rank() * count : end], 1
