# /// answer
# title = "Batches come from a generator, the gradients are summed by hand in one packed tensor"
# ///

# %% role="answer" id="train-horovod"
def batches_of(x, y, batch_size):
    while len(x):
        yield x[:batch_size], y[:batch_size]
        x, y = x[batch_size:], y[batch_size:]


def train_horovod(x, y, num_epochs, batch_size, learning_rate):
    hvd.init()
    mine = np.array_split(np.arange(len(x)), hvd.size())[hvd.rank()]
    theta = tf.Variable(tf.random.normal([2]))
    theta.assign(hvd.broadcast(theta, root_rank=0))
    history = [theta.numpy()]
    for _ in range(num_epochs):
        for a, b in batches_of(x[mine], y[mine], batch_size):
            with tf.GradientTape() as tape:
                loss = tf.keras.losses.mean_squared_error(b, theta[0] * a + theta[1])
            total = hvd.allreduce(tape.gradient(loss, theta), op=hvd.Sum)
            theta.assign_sub(learning_rate * total)  # the sum of N gradients is N times their mean
            history.append(theta.numpy())
    return np.stack(history)
