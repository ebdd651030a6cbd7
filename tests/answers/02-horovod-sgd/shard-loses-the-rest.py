# /// answer
# title = "Every rank leaves out the last sample of its part"
#
# [fails]
# shard-tests = ["not complete"]
# horovod-shards-tests = ["complete"]
# horovod-serial-tests = []
# keras-shards-tests = ["complete"]
# ///

# %% role="answer" id="shard"
def shard(x, y):
    num_mine = len(x) // hvd.size()
    mine = slice(hvd.rank() * num_mine, (hvd.rank() + 1) * num_mine - 1)
    return x[mine], y[mine]
