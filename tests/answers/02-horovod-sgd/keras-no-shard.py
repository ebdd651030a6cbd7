# /// answer
# title = "Keras trains on all data on every rank"
# verdict = "wrong"
#
# [fails]
# keras-shards-tests = ["no shard"]
# ///

# %% role="answer" id="train-keras"
def train_keras(x, y, num_epochs, batch_size, learning_rate):
    hvd_keras.init()
    x, y = x, y
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(learning_rate * hvd.size()))
    model.compile(optimizer=optimizer, loss="mse")
    trajectory = Trajectory()
    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), trajectory]
    model.fit(x, y, batch_size=batch_size, epochs=num_epochs, callbacks=callbacks, verbose=0)
    return np.array(trajectory.history)
