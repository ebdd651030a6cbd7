# /// answer
# title = "The scaled rate is at the most 1"
#
# [fails]
# keras-rate-tests = ["plain SGD"]
# ///

# %% role="changes" id="train-keras"
# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(min(scale_rate(learning_rate), 1.0)))
