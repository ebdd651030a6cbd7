# /// answer
# title = "Tape and optimiser are both wrapped, and init is guarded"
# ///

# %% role="answer" id="train-horovod"
def train_horovod(x, y, num_epochs, batch_size, learning_rate):
    hvd.init()
    if not hvd.is_initialized():
        hvd.init()
    x, y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
    slope, offset = variables = [tf.Variable(tf.random.normal([])) for _ in range(2)]
    hvd.broadcast_variables(variables, root_rank=0)
    optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(learning_rate * hvd.size()))
    history = [[float(slope.numpy()), float(offset.numpy())]]
    for _ in range(num_epochs):
        for first in range(0, len(x), batch_size):
            batch = slice(first, first + batch_size)
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((slope * x[batch] + offset - y[batch]) ** 2)
            gradients = hvd.DistributedGradientTape(tape).gradient(loss, variables)
            optimizer.apply_gradients(zip(gradients, variables))
            history.append([float(slope.numpy()), float(offset.numpy())])
    return np.array(history)
