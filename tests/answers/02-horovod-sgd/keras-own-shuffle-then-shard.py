# /// answer
# title = "A pipeline shuffles on every rank for itself before it shards"
# verdict = "wrong"
#
# [fails]
# keras-shards-tests = ["not disjoint"]
# ///

# %% role="answer" id="train-keras"
def train_keras(x, y, num_epochs, batch_size, learning_rate):
    hvd_keras.init()
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1000, reshuffle_each_iteration=False)
    data = data.shard(hvd.size(), hvd.rank()).batch(batch_size)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(learning_rate * hvd.size()))
    model.compile(optimizer=optimizer, loss="mse")
    trajectory = Trajectory()
    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), trajectory]
    model.fit(data, epochs=num_epochs, callbacks=callbacks, verbose=0)
    return np.array(trajectory.history)
