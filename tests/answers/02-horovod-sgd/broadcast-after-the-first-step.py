# /// answer
# title = "The documented way with a broadcast after the first step, in a compiled step"
# ///

# %% role="answer" id="train-horovod"
def train_horovod(x, y, num_epochs, batch_size, learning_rate):
    hvd.init()
    x, y = shard(x, y)
    slope, offset = (tf.Variable(tf.random.normal([])) for _ in range(2))
    optimizer = tf.keras.optimizers.legacy.SGD(learning_rate * hvd.size())

    @tf.function
    def step(batch_x, batch_y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((slope * batch_x + offset - batch_y) ** 2)
        tape = hvd.DistributedGradientTape(tape)
        optimizer.apply_gradients(zip(tape.gradient(loss, [slope, offset]), [slope, offset]))

    history = [[slope.numpy(), offset.numpy()]]
    for _ in range(num_epochs):
        for first in range(0, len(x), batch_size):
            step(tf.constant(x[first : first + batch_size]), tf.constant(y[first : first + batch_size]))
            if len(history) == 1:
                hvd.broadcast_variables([slope, offset], root_rank=0)
            history.append([slope.numpy(), offset.numpy()])
    return np.array(history)
