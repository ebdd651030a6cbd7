# /// answer
# title = "fit takes a sharded tf.data pipeline, not shuffled, and the ranks are told apart by horovod.tensorflow"
# ///

# %% role="answer" id="train-keras"
def train_keras(x, y, num_epochs, batch_size, learning_rate):
    hvd.init()
    data = tf.data.Dataset.from_tensor_slices((x[:, None], y[:, None])).shard(hvd.size(), hvd.rank()).batch(batch_size)
    model = tf.keras.Sequential([tf.keras.layers.InputLayer((1,)), tf.keras.layers.Dense(1)])
    model.compile(hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(learning_rate * hvd.size())), "mse")
    trajectory = Trajectory()
    start = hvd_keras.callbacks.BroadcastGlobalVariablesCallback(root_rank=0)
    model.fit(data, epochs=num_epochs, callbacks=[start, trajectory], verbose=0)
    return np.array(trajectory.history)
