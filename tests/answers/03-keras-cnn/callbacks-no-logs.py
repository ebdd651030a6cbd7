# /// answer
# title = "Nothing for TensorBoard"
# verdict = "wrong"
#
# [fails]
# files-tests = ["logs"]
# ///

# %% role="answer" id="make-callbacks"
def make_callbacks(folder):
    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), hvd_keras.callbacks.MetricAverageCallback()]
    if hvd.rank() == 0:
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", save_weights_only=True))
    return callbacks
