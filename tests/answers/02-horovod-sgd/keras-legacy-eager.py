# /// answer
# title = "Legacy SGD, run eagerly, broadcast before fit, the optimiser of horovod.tensorflow"
# ///

# %% role="answer" id="train-keras"
def train_keras(x, y, num_epochs, batch_size, learning_rate):
    hvd.init()
    x, y = shard(x, y)
    inputs = tf.keras.Input((1,))
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(inputs))
    hvd.broadcast_variables(model.variables, root_rank=0)
    optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.legacy.SGD(learning_rate * hvd.size()))
    model.compile(optimizer, tf.keras.losses.MeanSquaredError(), run_eagerly=True)
    trajectory = Trajectory()
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(batch_size)
    model.fit(data, epochs=num_epochs, callbacks=[trajectory], verbose=0)
    return np.array(trajectory.history)
