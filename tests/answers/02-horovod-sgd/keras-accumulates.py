# /// answer
# title = "Two batches are collected for every update, without a thought about the rate"
# verdict = "wrong"
#
# [fails]
# keras-average-tests = ["not averaged"]
# keras-rate-tests = []
# keras-shards-tests = []
# ///

# %% role="answer" id="train-keras"
def train_keras(x, y, num_epochs, batch_size, learning_rate):
    hvd_keras.init()
    x, y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    optimizer = tf.keras.optimizers.SGD(learning_rate * hvd.size())
    optimizer = hvd_keras.DistributedOptimizer(optimizer, backward_passes_per_step=2)
    model.compile(optimizer=optimizer, loss="mse")
    trajectory = Trajectory()
    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), trajectory]
    model.fit(x, y, batch_size=batch_size, epochs=num_epochs, callbacks=callbacks, verbose=0)
    return np.array(trajectory.history)
