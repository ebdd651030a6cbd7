# /// answer
# title = "Two batches are collected for every update, without a thought about the rate"
#
# [fails]
# keras-average-tests = ["one update"]
# keras-rate-tests = ["one update"]
# keras-shards-tests = ["one update"]
# ///

# %% role="changes" id="train-keras"
# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    optimizer = hvd_keras.DistributedOptimizer(
# +        tf.keras.optimizers.SGD(scale_rate(learning_rate)), backward_passes_per_step=2
# +    )
