# /// answer
# title = "The shard is that of the local rank: right on one node"
# verdict = "wrong"
#
# [fails]
# shard-tests = ["no shard"]
# horovod-shards-tests = ["no shard"]
# horovod-serial-tests = []
# keras-shards-tests = ["no shard"]
# ///

# %% role="answer" id="shard"
def shard(x, y):
    mine = slice(hvd.local_rank(), None, hvd.local_size())
    return x[mine], y[mine]
