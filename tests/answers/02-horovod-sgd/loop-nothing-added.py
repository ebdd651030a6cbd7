# /// answer
# title = "The loop of one process, with hvd.init() on top"
#
# [fails]
# horovod-start-tests = ["not broadcast"]
# horovod-average-tests = ["not averaged"]
# horovod-shards-tests = ["no shard"]
# horovod-rate-tests = ["not scaled"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -    x, y = shard(x, y)
#      slope, offset = variables = [tf.Variable(tf.random.normal([])) for _ in range(2)]
# -    broadcast_start(variables)
# -    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))
# +    optimizer = tf.keras.optimizers.SGD(learning_rate)

# -            tape = hvd.DistributedGradientTape(tape)
