# /// answer
# title = "Each rank shuffles with its rank as seed before it takes its share"
#
# [fails]
# horovod-shards-tests = ["not disjoint"]
# ///

# %% role="changes" id="train-horovod"
# -    x, y = shard(x, y)
# +    order = np.random.default_rng(hvd.rank()).permutation(len(x))
# +    x, y = shard(x[order], y[order])
