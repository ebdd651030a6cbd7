# /// answer
# title = "The rate of one rank"
#
# [fails]
# train-tests = ["not scaled"]
# ///

# %% role="changes" id="train"
# -        hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(rate * hvd.size(), momentum=0.9)),
# +        hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(rate, momentum=0.9)),
