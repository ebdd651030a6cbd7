# /// answer
# title = "Adam in place of SGD: its steps have the length of the rate, whatever the gradient is"
#
# [fails]
# keras-average-tests = ["not SGD on"]
# keras-shards-tests = ["not SGD on"]
# keras-rate-tests = ["not SGD on"]
# ///

# %% role="changes" id="train-keras"
# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.Adam(scale_rate(learning_rate)))
