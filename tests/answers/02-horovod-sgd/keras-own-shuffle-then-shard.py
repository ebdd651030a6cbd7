# /// answer
# title = "Every rank shuffles with a seed of its own before its pipeline shards"
# verdict = "wrong"
#
# [fails]
# keras-shards-tests = ["not disjoint"]
# ///

# %% role="answer" id="train-keras"
def train_keras(x, y, num_epochs, batch_size, learning_rate):
    hvd_keras.init()
    order = np.random.default_rng(hvd.rank()).permutation(len(x))
    data = tf.data.Dataset.from_tensor_slices((x[order], y[order])).shard(hvd.size(), hvd.rank()).batch(batch_size)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(learning_rate * hvd.size()))
    model.compile(optimizer=optimizer, loss="mse")
    trajectory = Trajectory()
    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), trajectory]
    model.fit(data, epochs=num_epochs, callbacks=callbacks, verbose=0)
    return np.array(trajectory.history)
