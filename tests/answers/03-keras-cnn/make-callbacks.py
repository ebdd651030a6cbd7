# %% callbacks-checkpoint-on-every-rank
# title = "Every rank saves, each in a folder of its own"
# fails.files-tests = ["writers.not-rank-0"]
# consequences = ["train-tests", "continued-tests"]
def make_callbacks(folder):
    where = folder if hvd.rank() == 0 else folder / f"rank-{hvd.rank()}"
    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), hvd_keras.callbacks.MetricAverageCallback()]
    callbacks.append(tf.keras.callbacks.ModelCheckpoint(where / "epoch-{epoch:03d}", save_weights_only=True))
    if hvd.rank() == 0:
        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs"))
    return callbacks


# %% callbacks-early-stopping-first
# title = "Early stopping comes before the metrics are averaged, so each rank decides alone"
# fails.start-tests = ["collective.peer-finished"]
# fails.metrics-tests = ["collective.peer-finished"]
# fails.files-tests = ["collective.peer-finished"]
# consequences = ["train-tests", "continued-tests"]
#          hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
# +        tf.keras.callbacks.EarlyStopping(monitor="loss", patience=0),

# %% callbacks-last-rank-is-the-root
# title = "The weights of the last rank go to all"
# fails.start-tests = ["broadcast.wrong-root"]
# consequences = ["train-tests", "continued-tests"]
# -        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
# +        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(hvd.size() - 1),

# %% callbacks-metric-average-on-rank-0
# title = "Only rank 0 averages the metrics, and waits for ever"
# fails.start-tests = ["ranks.deadlock"]
# fails.metrics-tests = ["ranks.deadlock"]
# fails.files-tests = ["ranks.deadlock"]
# consequences = ["train-tests", "continued-tests"]
# -        hvd_keras.callbacks.MetricAverageCallback(),

#      if hvd.rank() == 0:
# +        callbacks.append(hvd_keras.callbacks.MetricAverageCallback())

# %% callbacks-no-metric-average
# title = "Every rank reports its own loss"
# fails.metrics-tests = ["metrics.not-averaged"]
# consequences = ["train-tests", "continued-tests"]
# -        hvd_keras.callbacks.MetricAverageCallback(),

# %% callbacks-one-writer-on-each-node
# title = "The first rank of each node writes"
# fails.files-tests = ["writers.not-rank-0"]
# consequences = ["train-tests", "continued-tests"]
# -    if hvd.rank() == 0:
# +    if hvd.local_rank() == 0:

# %% callbacks-same-seed-for-all
# title = "One seed for all ranks instead of a broadcast"
# fails.start-tests = ["broadcast.missing"]
# consequences = ["train-tests", "continued-tests"]
# +    tf.keras.utils.set_random_seed(seed)
#      callbacks = [
# -        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),

# %% callbacks-save-best
# title = "Only the best is saved, by a loss of the validation that there is not"
# fails.files-tests = ["checkpoint.missing"]
# consequences = ["train-tests", "continued-tests"]
# -        callbacks.append(tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", save_weights_only=True))
# +        callbacks.append(
# +            tf.keras.callbacks.ModelCheckpoint(
# +                folder / "epoch-{epoch:03d}", save_weights_only=True, save_best_only=True
# +            )
# +        )

# %% callbacks-save-the-best-by-loss
# title = "Only the best epochs are saved, by the loss"
# fails.files-tests = ["checkpoint.missing"]
# -        callbacks.append(tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", save_weights_only=True))
# +        best = {"monitor": "loss", "save_best_only": True, "save_weights_only": True}
# +        callbacks.append(tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", **best))

# %% callbacks-stop-early-with-patience
# title = "Early stopping after three epochs without progress, by each rank's own loss"
# fails.start-tests = ["collective.peer-finished"]
# fails.metrics-tests = []
# fails.files-tests = []
# -        hvd_keras.callbacks.MetricAverageCallback(),
# +        tf.keras.callbacks.EarlyStopping("loss", patience=3),
# +        hvd_keras.callbacks.MetricAverageCallback(),

# %% callbacks-whole-model
# title = "The checkpoint is a whole model"
# fails.files-tests = ["checkpoint.whole-model"]
# consequences = ["train-tests", "continued-tests"]
# -        callbacks.append(tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", save_weights_only=True))
# +        callbacks.append(tf.keras.callbacks.ModelCheckpoint(str(folder / "epoch-{epoch:03d}")))

# %% callbacks-write-before-the-average
# title = "Rank 0 writes its logs before the metrics are averaged"
# fails.metrics-tests = ["callbacks.wrong-order"]
# consequences = ["train-tests", "continued-tests"]
# -        hvd_keras.callbacks.MetricAverageCallback(),

# -    return callbacks
# +    return [*callbacks, hvd_keras.callbacks.MetricAverageCallback()]

# %% right-broadcast-when-training-begins
# title = "The start is broadcast before the first batch by a callback of one's own"
# +class BroadcastAtTheBeginning(tf.keras.callbacks.Callback):
# +    def on_train_begin(self, logs=None):
# +        hvd.broadcast_variables(self.model.variables, root_rank=0)
# +
# +
#  def make_callbacks(folder):

# -        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
# +        BroadcastAtTheBeginning(),


# %% right-max-of-a-flag
# title = "Early stop by the largest flag of all ranks; metrics averaged by hand"
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


# %% callbacks-shared-by-all-calls
# title = "All calls share one broadcast callback, which broadcasts only once"
# fails.start-tests = ["broadcast.missing"]
shared = []  # made once, used in every training


def make_callbacks(folder):
    """Return this rank's callbacks for `fit`."""
    if not shared:
        shared.append(hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0))
        shared.append(hvd_keras.callbacks.MetricAverageCallback())
    callbacks = list(shared)
    if hvd.rank() == 0:
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", save_weights_only=True))
        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs"))
    return callbacks


# %% callbacks-none-on-one-rank
# title = "A single rank gets no callbacks, and so no checkpoints"
# fails.files-tests = ["writers.none"]
def make_callbacks(folder):
    """Return this rank's callbacks for `fit`."""
    if hvd.size() == 1:
        return []  # nothing to synchronise
    callbacks = [
        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
        hvd_keras.callbacks.MetricAverageCallback(),
    ]
    if hvd.rank() == 0:
        callbacks.append(tf.keras.callbacks.ModelCheckpoint(folder / "epoch-{epoch:03d}", save_weights_only=True))
        callbacks.append(tf.keras.callbacks.TensorBoard(folder / "logs"))
    return callbacks
