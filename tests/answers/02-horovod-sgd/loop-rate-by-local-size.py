# /// answer
# title = "The rate counts the ranks of one node"
#
# [fails]
# horovod-rate-tests = ["one node"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))
# +    optimizer = tf.keras.optimizers.SGD(learning_rate * hvd.local_size())
