# /// answer
# title = "The weights of rank 0 are broadcast when the training has ended"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# start-tests = ["not broadcast"]
# ///

# %% role="answer" id="make-callbacks"
class BroadcastAtTheEnd(tf.keras.callbacks.Callback):
    def on_train_end(self, logs=None):
        hvd.broadcast_variables(self.model.variables, root_rank=0)


def make_callbacks(folder):
    callbacks = [BroadcastAtTheEnd(), hvd_keras.callbacks.MetricAverageCallback()]
    if hvd.rank() == 0:
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", save_weights_only=True))
        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs"))
    return callbacks
