# /// answer
# title = "The optimiser has a momentum"
#
# [fails]
# horovod-serial-tests = ["momentum of 0.9"]
# ///

# %% role="changes" id="train-horovod"
# -    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))
# +    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate), momentum=0.9)
