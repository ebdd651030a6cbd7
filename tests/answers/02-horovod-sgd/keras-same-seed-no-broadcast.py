# /// answer
# title = "No broadcast, but the same seed on every rank: equal by luck"
# verdict = "wrong"
#
# [fails]
# keras-start-tests = ["not broadcast"]
# ///

# %% role="answer" id="train-keras"
def train_keras(x, y, num_epochs, batch_size, learning_rate):
    hvd_keras.init()
    tf.keras.utils.set_random_seed(1)
    x, y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(learning_rate * hvd.size()))
    model.compile(optimizer=optimizer, loss="mse")
    trajectory = Trajectory()
    callbacks = [trajectory]
    model.fit(x, y, batch_size=batch_size, epochs=num_epochs, callbacks=callbacks, verbose=0)
    return np.array(trajectory.history)
