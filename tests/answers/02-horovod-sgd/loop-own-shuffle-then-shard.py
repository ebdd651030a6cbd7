# /// answer
# title = "Every rank shuffles with a seed of its own, and then takes its share"
# verdict = "wrong"
#
# [fails]
# horovod-shards-tests = ["not disjoint"]
# horovod-serial-tests = []
# ///

# %% role="answer" id="train-horovod"
def train_horovod(x, y, num_epochs, batch_size, learning_rate):
    hvd.init()
    order = np.random.default_rng(hvd.rank()).permutation(len(x))[hvd.rank() :: hvd.size()]
    x, y = x[order], y[order]
    slope, offset = variables = [tf.Variable(tf.random.normal([])) for _ in range(2)]
    hvd.broadcast_variables(variables, root_rank=0)
    optimizer = tf.keras.optimizers.SGD(learning_rate * hvd.size())
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
