# /// answer
# title = "Shard and rate are typed in for two ranks"
#
# [fails]
# keras-shards-tests = ["not disjoint"]
# keras-rate-tests = ["two ranks"]
# ///

# %% role="changes" id="train-keras"
# -    x, y = shard(x, y)
# +    x, y = x[hvd.rank() % 2 :: 2], y[hvd.rank() % 2 :: 2]

# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(2 * learning_rate))
