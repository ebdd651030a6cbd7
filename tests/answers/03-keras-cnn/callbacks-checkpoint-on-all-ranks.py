# /// answer
# title = "All ranks save into the same files"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# files-tests = ["rank 0 alone"]
# ///

# %% role="answer" id="make-callbacks"
def make_callbacks(folder):
    return [
        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
        hvd_keras.callbacks.MetricAverageCallback(),
        tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", save_weights_only=True),
        tf.keras.callbacks.TensorBoard(folder / "logs"),
    ]
