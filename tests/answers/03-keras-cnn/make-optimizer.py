# %% optimizer-adds-weight-decay
# title = "A weight decay that nobody asked for"
# fails.optimizer-tests = ["updates.differ"]
# consequences = ["train-tests", "continued-tests"]
# -    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
# +    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9, weight_decay=1e-4)

# %% optimizer-clips-large-gradients
# title = "Gradients are clipped to a length of 1, which small ones do not show"
# fails.optimizer-tests = ["updates.differ"]
# -    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
# +    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9, clipnorm=1.0)

# %% optimizer-groups-zero
# title = "The number of groups as it is, though Horovod takes no 0"
# fails.compression-tests = ["groups.zero"]
# -    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None)
# +    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups)

# %% optimizer-always-compresses
# title = "The text none counts as true, so the gradients always travel with 16 bits"
# fails.compression-tests = ["compression.wrong-bits"]
# consequences = ["train-tests", "continued-tests"]
# -    bits = hvd.Compression.fp16 if compression == "fp16" else hvd.Compression.none
# +    bits = hvd.Compression.fp16 if compression else hvd.Compression.none

# %% optimizer-clips-first
# title = "Each rank clips its gradients before they are averaged"
# fails.optimizer-tests = ["updates.unexplained"]
# consequences = ["train-tests", "continued-tests"]
# -    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
# +    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9, clipvalue=0.05)

# %% optimizer-gradients-of-rank-0
# title = "The gradients of rank 0 go to all instead of their mean"
# fails.optimizer-tests = ["gradients.weighted"]
# fails.compression-tests = []
# consequences = ["train-tests", "continued-tests"]
def make_optimizer(rate, compression="none"):
    class Broadcasting(tf.keras.optimizers.SGD):
        def apply_gradients(self, pairs, *args, **settings):
            gradients, variables = zip(*pairs)
            gradients = [hvd.broadcast(gradient, root_rank=0) for gradient in gradients]
            return super().apply_gradients(zip(gradients, variables), *args, **settings)

    return Broadcasting(rate, momentum=0.9)


# %% optimizer-ignores-compression
# title = "The argument compression is not used"
# fails.compression-tests = ["compression.wrong-bits"]
# consequences = ["train-tests", "continued-tests"]
def make_optimizer(rate, compression="none"):
    return hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(rate, momentum=0.9))


# %% optimizer-no-groups
# title = "The groups are not handed on"
# fails.compression-tests = ["groups.wrong-number"]
# consequences = ["train-tests", "continued-tests"]
# -    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None)
# +    return hvd_keras.DistributedOptimizer(optimizer, compression=bits)

# %% optimizer-no-momentum
# title = "Plain SGD"
# fails.optimizer-tests = ["momentum.missing"]
# consequences = ["train-tests", "continued-tests"]
# -    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
# +    optimizer = tf.keras.optimizers.SGD(rate)


# %% optimizer-not-wrapped
# title = "An optimiser as for one process"
# fails.optimizer-tests = ["gradients.not-averaged"]
# fails.compression-tests = []
# consequences = ["train-tests", "continued-tests"]
def make_optimizer(rate, compression="none"):
    return tf.keras.optimizers.SGD(rate, momentum=0.9)


# %% optimizer-rate-of-the-notebook
# title = "The parameter learning_rate instead of the argument"
# fails.optimizer-tests = ["rate.wrong"]
# consequences = ["compression-tests", "train-tests", "continued-tests"]
# -    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
# +    optimizer = tf.keras.optimizers.SGD(learning_rate, momentum=0.9)


# %% optimizer-returned-for-fp16-only
# title = "The return stands under the `if`, so that there is no optimiser without compression"
# fails.optimizer-tests = ["answer.wrong-type"]
# fails.compression-tests = ["answer.wrong-type"]
def make_optimizer(rate, compression="none"):
    """Return SGD with momentum 0.9 that averages the gradients over all ranks."""
    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
    if compression == "fp16":
        return hvd_keras.DistributedOptimizer(optimizer, compression=hvd.Compression.fp16, groups=num_groups or None)


# %% optimizer-scales-again
# title = "The rate is scaled in the optimiser, and in the plan"
# fails.optimizer-tests = ["rate.scaled-twice"]
# consequences = ["train-tests", "continued-tests"]
# -    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
# +    optimizer = tf.keras.optimizers.SGD(rate * hvd.size(), momentum=0.9)

# %% optimizer-sums
# title = "The gradients are added up and not averaged"
# fails.optimizer-tests = ["rate.scaled-twice"]
# consequences = ["train-tests", "continued-tests"]
# -    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None)
# +    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None, op=hvd.Sum)

# %% optimizer-sums-over-local-size
# title = "The sum is divided by the ranks of the node"
# fails.optimizer-tests = ["rate.uneven"]
# consequences = ["compression-tests", "train-tests", "continued-tests"]
# -    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None)
# +    optimizer = tf.keras.optimizers.SGD(rate / hvd.local_size(), momentum=0.9)
# +    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None, op=hvd.Sum)

# %% optimizer-sums-over-two
# title = "The sum is divided by a world size that is typed in"
# fails.optimizer-tests = ["rate.wrong"]
# consequences = ["train-tests", "continued-tests"]
# -    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None)
# +    optimizer = tf.keras.optimizers.SGD(rate / 2, momentum=0.9)
# +    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None, op=hvd.Sum)

# %% optimizer-wrapped-by-horovod-tensorflow
# title = "The wrapper of horovod.tensorflow, which forgets the groups"
# fails.compression-tests = ["groups.wrong-number"]
# consequences = ["train-tests", "continued-tests"]
# -    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None)
# +    return hvd.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None)


# %% optimizer-wrapped-twice
# title = "Wrapped for the averaging, and once more for the compression"
# fails.optimizer-tests = ["optimizer.wrapped-twice"]
# fails.compression-tests = []
# consequences = ["train-tests", "continued-tests"]
def make_optimizer(rate, compression="none"):
    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(rate, momentum=0.9))
    if compression == "fp16":
        return hvd_keras.DistributedOptimizer(optimizer, compression=hvd.Compression.fp16)
    return hvd_keras.DistributedOptimizer(optimizer)


# %% right-legacy-optimiser
# title = "Keras' legacy optimiser, which has no build, and the number of epochs as the sum over the ranks"
def make_optimizer(rate, compression="none"):
    optimizer = tf.keras.optimizers.legacy.SGD(learning_rate=rate, momentum=0.9)
    settings = {"groups": num_groups} if num_groups else {}
    if compression == "fp16":
        settings["compression"] = hvd.Compression.fp16
    return hvd_keras.DistributedOptimizer(optimizer, **settings)


# %% id="resume"
def resume(network, folder):
    optimizer = network.optimizer
    (optimizer.build if hasattr(optimizer, "build") else optimizer._create_all_weights)(network.trainable_variables)
    newest = tf.train.latest_checkpoint(str(folder)) if hvd.rank() == 0 else None
    if newest:
        network.load_weights(newest)
    hvd.broadcast_variables([*network.variables, *optimizer.variables], root_rank=0)
    return int(hvd.allreduce(tf.constant(int(newest.rpartition("-")[2]) if newest else 0), op=hvd.Sum))


# %% right-optimiser-of-ones-own-class
# title = "An optimiser of one's own class with a name, callbacks in one sum of lists"
class Sgd(tf.keras.optimizers.SGD):
    """SGD with the momentum of this lab."""


def make_optimizer(rate, compression="none"):
    bits = {"none": hvd.Compression.none, "fp16": hvd.Compression.fp16}[compression]
    return hvd_keras.DistributedOptimizer(
        Sgd(learning_rate=rate, momentum=0.9), name="Averaging", groups=num_groups or None, compression=bits
    )


# %% id="make-callbacks"
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


# %% optimizer-at-least-one-group
# title = "At least one group, if 0 means none"
# fails.compression-tests = ["groups.zero"]
# -    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None)
# +    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=max(1, num_groups))

# %% optimizer-compresses-mixed-precision
# title = "Mixed precision also sends the gradients in 16 bits"
# fails.compression-tests = ["compression.wrong-bits"]
# -    bits = hvd.Compression.fp16 if compression == "fp16" else hvd.Compression.none
# +    has_16 = compression == "fp16" or precision != "float32"
# +    bits = hvd.Compression.fp16 if has_16 else hvd.Compression.none

# %% optimizer-one-group-is-none
# title = "One group, the default, is taken for none"
# fails.compression-tests = ["groups.wrong-number"]
# -    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None)
# +    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups if num_groups > 1 else None)
