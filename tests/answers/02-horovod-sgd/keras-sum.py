# /// answer
# title = "The wrapped optimiser adds the gradients up"
#
# [fails]
# keras-rate-tests = ["summed"]
# ///

# %% role="changes" id="train-keras"
# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)), op=hvd.Sum)
