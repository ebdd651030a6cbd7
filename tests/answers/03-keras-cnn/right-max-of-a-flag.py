# /// answer
# title = "Early stop by the largest flag of all ranks; metrics averaged by hand"
# ///

# %% role="answer" id="make-callbacks"
class AverageAndStop(tf.keras.callbacks.Callback):
    """Average the metrics of an epoch over all ranks, and stop together when any rank wants to."""

    def on_epoch_end(self, epoch, logs=None):
        for name in sorted(logs):
            logs[name] = float(hvd.allreduce(tf.constant(float(logs[name]), tf.float64), name=f"{name}-{epoch}"))
        wants_to_stop = tf.constant([int(not np.isfinite(logs["loss"]))])
        self.model.stop_training = bool(hvd.allreduce(wants_to_stop, op=hvd.Max)[0] > 0)


def make_callbacks(folder):
    folder = Path(folder)
    callbacks = [AverageAndStop(), hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0)]
    if not hvd.rank():
        save = lambda epoch, logs: callbacks[0].model.save_weights(str(folder / f"epoch-{epoch + 1:03d}"))
        callbacks.append(tf.keras.callbacks.LambdaCallback(on_epoch_end=save))
        callbacks.append(tf.keras.callbacks.TensorBoard(str(folder / "logs"), write_graph=False))
    return callbacks
