# /// answer
# title = "The rate is scaled with the number of ranks of the notebook"
#
# [fails]
# horovod-rate-tests = ["two ranks"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))
# +    optimizer = tf.keras.optimizers.SGD(learning_rate * num_ranks)
