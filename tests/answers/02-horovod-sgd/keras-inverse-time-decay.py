# /// answer
# title = "The rate falls by about one per cent in each step"
#
# [fails]
# keras-rate-tests = ["changes from step to step"]
# ///

# %% role="changes" id="train-keras"
# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    rate = tf.keras.optimizers.schedules.InverseTimeDecay(scale_rate(learning_rate), 1, 0.01)
# +    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(rate))
