# /// answer
# title = "Each rank clips its gradients before they are averaged"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# optimizer-tests = ["not those of SGD"]
# compression-tests = []
# ///

# %% role="changes" id="make-optimizer"
# -    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
# +    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9, clipvalue=0.05)
