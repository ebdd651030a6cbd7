# /// answer
# title = "The rate is multiplied by rank + 1"
#
# [fails]
# horovod-rate-tests = ["depends on the rank"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))
# +    optimizer = tf.keras.optimizers.SGD(learning_rate * (hvd.rank() + 1))
