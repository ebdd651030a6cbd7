# /// answer
# title = "One seed for all ranks instead of a broadcast"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# start-tests = ["not broadcast"]
# ///

# %% role="answer" id="make-callbacks"
def make_callbacks(folder):
    tf.keras.utils.set_random_seed(seed)
    callbacks = [hvd_keras.callbacks.MetricAverageCallback()]
    if hvd.rank() == 0:
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", save_weights_only=True))
        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs"))
    return callbacks
