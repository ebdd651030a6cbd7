# /// answer
# title = "The Keras optimiser is not wrapped"
#
# [fails]
# keras-average-tests = ["not averaged"]
# ///

# %% role="changes" id="train-keras"
# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))
