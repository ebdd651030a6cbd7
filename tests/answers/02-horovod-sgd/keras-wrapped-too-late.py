# /// answer
# title = "The optimiser is wrapped after compile"
#
# [fails]
# keras-average-tests = ["not averaged"]
# ///

# %% role="changes" id="train-keras"
# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))
#      model.compile(optimizer=optimizer, loss="mse")
# +    optimizer = hvd_keras.DistributedOptimizer(optimizer)
