# /// answer
# title = "Plain SGD"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# optimizer-tests = ["expected momentum 0.9, got none"]
# ///

# %% role="changes" id="make-optimizer"
# -    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
# +    optimizer = tf.keras.optimizers.SGD(rate)
