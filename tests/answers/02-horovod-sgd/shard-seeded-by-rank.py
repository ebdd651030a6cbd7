# /// answer
# title = "Each rank shuffles with its rank as seed before it takes its share"
#
# [fails]
# shard-tests = ["not disjoint"]
# horovod-shards-tests = ["not disjoint"]
# keras-shards-tests = ["not disjoint"]
# ///

# %% role="answer" id="shard"
def shard(x, y):
    order = np.random.default_rng(hvd.rank()).permutation(len(x))[hvd.rank() :: hvd.size()]
    return x[order], y[order]
