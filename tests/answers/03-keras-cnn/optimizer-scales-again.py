# /// answer
# title = "The rate is scaled in the optimiser, and in the plan"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# optimizer-tests = ["scaled twice"]
# ///

# %% role="changes" id="make-optimizer"
# -    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
# +    optimizer = tf.keras.optimizers.SGD(rate * hvd.size(), momentum=0.9)
