# /// answer
# title = "Shorter shards begin again, so that all are of one size"
#
# [fails]
# shard-tests = ["not disjoint"]
# horovod-shards-tests = ["not disjoint"]
# horovod-serial-tests = []
# keras-shards-tests = ["not disjoint"]
# ///

# %% role="answer" id="shard"
def shard(x, y):
    num_mine = -(-len(x) // hvd.size())
    return tuple(np.resize(part[hvd.rank() :: hvd.size()], num_mine) for part in (x, y))
