# /// answer
# title = "The Keras version does not scale the rate"
#
# [fails]
# keras-rate-tests = ["not scaled"]
# ///

# %% role="changes" id="train-keras"
# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(learning_rate))
