# /// answer
# title = "Only the best is saved, by a loss of the validation that there is not"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# files-tests = ["no checkpoint"]
# ///

# %% role="answer" id="make-callbacks"
def make_callbacks(folder):
    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), hvd_keras.callbacks.MetricAverageCallback()]
    if hvd.rank() == 0:
        callbacks.append(
            tf.keras.callbacks.ModelCheckpoint(
                folder / "epoch-{epoch:03d}", save_weights_only=True, save_best_only=True
            )
        )
        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs"))
    return callbacks
