# /// answer
# title = "All ranks shuffle with one seed in each epoch, then take every N-th sample in batches"
# ///

# %% role="answer" id="train-horovod"
def train_horovod(x, y, num_epochs, batch_size, learning_rate):
    hvd.init()
    variables = [tf.Variable(tf.random.normal([])) for _ in range(2)]
    hvd.broadcast_variables(variables, root_rank=0)
    optimizer = tf.keras.optimizers.SGD(learning_rate * hvd.size())
    history = [[v.numpy() for v in variables]]
    for epoch in range(num_epochs):
        order = np.random.default_rng(epoch).permutation(len(x))[hvd.rank() :: hvd.size()]
        for batch in np.split(order, range(batch_size, len(order), batch_size)):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((variables[0] * x[batch] + variables[1] - y[batch]) ** 2)
            gradients = hvd.grouped_allreduce(tape.gradient(loss, variables))
            optimizer.apply_gradients(zip(gradients, variables))
            history.append([v.numpy() for v in variables])
    return np.array(history)
