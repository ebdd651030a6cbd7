# /// answer
# title = "Every rank shuffles with a seed of its own, and then takes its share"
#
# [fails]
# horovod-shards-tests = ["not disjoint"]
# ///

# %% role="changes" id="train-horovod"
# -    x, y = shard(x, y)
# +    order = np.random.default_rng(hvd.rank()).permutation(len(x))[hvd.rank() :: hvd.size()]
# +    x, y = x[order], y[order]
