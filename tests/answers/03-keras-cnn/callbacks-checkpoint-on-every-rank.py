# /// answer
# title = "Every rank saves, each in a folder of its own"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# files-tests = ["rank 0 alone"]
# ///

# %% role="answer" id="make-callbacks"
def make_callbacks(folder):
    where = folder if hvd.rank() == 0 else folder / f"rank-{hvd.rank()}"
    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), hvd_keras.callbacks.MetricAverageCallback()]
    callbacks.append(tf.keras.callbacks.ModelCheckpoint(where / "epoch-{epoch:03d}", save_weights_only=True))
    if hvd.rank() == 0:
        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs"))
    return callbacks
