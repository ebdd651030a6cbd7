# /// answer
# title = "The optimiser is wrapped instead of the tape, which averages nothing in a loop of one's own"
#
# [fails]
# horovod-average-tests = ["not averaged"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))
# +    optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))

# -            tape = hvd.DistributedGradientTape(tape)
