# /// answer
# title = "An optimiser of one's own class with a name, callbacks in one sum of lists"
# ///

# %% role="answer" id="make-optimizer"
class Sgd(tf.keras.optimizers.SGD):
    """SGD with the momentum of this lab."""


def make_optimizer(rate, compression="none"):
    bits = {"none": hvd.Compression.none, "fp16": hvd.Compression.fp16}[compression]
    return hvd_keras.DistributedOptimizer(
        Sgd(learning_rate=rate, momentum=0.9), name="Averaging", groups=num_groups or None, compression=bits
    )


# %% role="answer" id="make-callbacks"
class Narrator(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print("epoch", epoch, logs)


def make_callbacks(folder):
    everyone = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(root_rank=0)]
    everyone += [hvd_keras.callbacks.MetricAverageCallback(), tf.keras.callbacks.TerminateOnNaN(), Narrator()]
    early = tf.keras.callbacks.EarlyStopping(monitor="loss", patience=20)  # after the average: all decide alike
    first_only = [
        tf.keras.callbacks.TensorBoard(log_dir=str(folder / "logs"), write_graph=False, update_freq="epoch"),
        tf.keras.callbacks.ModelCheckpoint(
            filepath=str(folder / "epoch-{epoch:03d}"), save_weights_only=True, save_freq="epoch", verbose=1
        ),
    ]
    return everyone + [early] + (first_only if hvd.rank() == 0 else [])
