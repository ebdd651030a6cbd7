# /// answer
# title = "The broadcast callback is made, but fit never gets it"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# start-tests = ["not broadcast"]
# ///

# %% role="answer" id="make-callbacks"
def make_callbacks(folder):
    hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0)
    callbacks = [hvd_keras.callbacks.MetricAverageCallback()]
    if hvd.rank() == 0:
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", save_weights_only=True))
        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs"))
    return callbacks
