# /// answer
# title = "An optimiser that averages nothing"
#
# [fails]
# train-tests = ["not averaged"]
# ///

# %% role="changes" id="train"
# -        hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(rate * hvd.size(), momentum=0.9)),
# +        tf.keras.optimizers.SGD(rate * hvd.size(), momentum=0.9),
