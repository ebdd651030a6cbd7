# /// answer
# title = "The parameter learning_rate instead of the argument"
# consequences = ["compression-tests", "train-tests", "continued-tests"]
#
# [fails]
# optimizer-tests = ["learning rate"]
# ///

# %% role="changes" id="make-optimizer"
# -    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
# +    optimizer = tf.keras.optimizers.SGD(learning_rate, momentum=0.9)
