# /// answer
# title = "The checkpoint is a whole model"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# files-tests = ["whole model"]
# ///

# %% role="answer" id="make-callbacks"
def make_callbacks(folder):
    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), hvd_keras.callbacks.MetricAverageCallback()]
    if hvd.rank() == 0:
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(str(folder / "epoch-{epoch:03d}")))
        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs"))
    return callbacks
