# /// answer
# title = "The last rank writes, so that rank 0 has less to do"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# files-tests = ["rank 0 alone"]
# ///

# %% role="answer" id="make-callbacks"
def make_callbacks(folder):
    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), hvd_keras.callbacks.MetricAverageCallback()]
    if hvd.rank() == hvd.size() - 1:
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", save_weights_only=True))
        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs"))
    return callbacks
