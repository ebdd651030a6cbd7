# /// answer
# title = "The recording callback stands before the broadcast, and every rank may speak"
# ///

# %% role="answer" id="train-keras"
def train_keras(x, y, num_epochs, batch_size, learning_rate):
    hvd_keras.init()
    x, y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(learning_rate * hvd.size()))
    model.compile(optimizer=optimizer, loss="mse")
    trajectory = Trajectory()
    callbacks = [
        trajectory,
        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
        hvd_keras.callbacks.MetricAverageCallback(),
    ]
    model.fit(x, y, batch_size=batch_size, epochs=num_epochs, callbacks=callbacks, verbose=int(hvd.rank() == 0))
    return np.array(trajectory.history)
