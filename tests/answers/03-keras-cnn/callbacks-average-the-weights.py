# /// answer
# title = "All ranks average their weights at the end instead of starting alike"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# start-tests = ["not broadcast"]
# ///

# %% role="answer" id="make-callbacks"
class AverageWeights(tf.keras.callbacks.Callback):
    def on_train_end(self, logs=None):
        self.model.set_weights([hvd.allreduce(weights).numpy() for weights in self.model.get_weights()])


def make_callbacks(folder):
    callbacks = [AverageWeights(), hvd_keras.callbacks.MetricAverageCallback()]
    if hvd.rank() == 0:
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", save_weights_only=True))
        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs"))
    return callbacks
