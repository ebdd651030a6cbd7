# /// answer
# title = "Only rank 0 averages the metrics, and waits for ever"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# start-tests = ["did not end well"]
# metrics-tests = ["did not end well"]
# files-tests = ["did not end well"]
# ///

# %% role="answer" id="make-callbacks"
def make_callbacks(folder):
    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0)]
    if hvd.rank() == 0:
        callbacks.append(hvd_keras.callbacks.MetricAverageCallback())
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", save_weights_only=True))
        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs"))
    return callbacks
