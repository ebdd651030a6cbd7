# /// answer
# title = "Early stopping comes before the metrics are averaged, so each rank decides alone"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# start-tests = ["rank 0 was left alone in a collective"]
# metrics-tests = ["left alone"]
# files-tests = ["left alone"]
# ///

# %% role="answer" id="make-callbacks"
def make_callbacks(folder):
    callbacks = [
        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
        tf.keras.callbacks.EarlyStopping(monitor="loss", patience=0),
        hvd_keras.callbacks.MetricAverageCallback(),
    ]
    if hvd.rank() == 0:
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", save_weights_only=True))
        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs"))
    return callbacks
