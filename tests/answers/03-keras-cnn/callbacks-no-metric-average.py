# /// answer
# title = "Every rank reports its own loss"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# metrics-tests = ["not averaged"]
# ///

# %% role="answer" id="make-callbacks"
def make_callbacks(folder):
    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0)]
    if hvd.rank() == 0:
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", save_weights_only=True))
        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs"))
    return callbacks
