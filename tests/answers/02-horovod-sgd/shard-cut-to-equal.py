# /// answer
# title = "All shards are cut to the same size, so that the rest of the samples is lost"
#
# [fails]
# shard-tests = ["not complete"]
# horovod-shards-tests = ["not complete"]
# horovod-serial-tests = []
# keras-shards-tests = ["not complete"]
# ///

# %% role="answer" id="shard"
def shard(x, y):
    n = len(x) // hvd.size()
    mine = slice(hvd.rank() * n, (hvd.rank() + 1) * n)
    return x[mine], y[mine]
