# /// answer
# title = "The rate counts the ranks of one node"
#
# [fails]
# keras-rate-tests = ["one node"]
# ///

# %% role="changes" id="train-keras"
# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(learning_rate * hvd.local_size()))
