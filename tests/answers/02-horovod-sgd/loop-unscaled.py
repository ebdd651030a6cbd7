# /// answer
# title = "The loop does not scale the rate"
#
# [fails]
# horovod-rate-tests = ["not scaled"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))
# +    optimizer = tf.keras.optimizers.SGD(learning_rate)
