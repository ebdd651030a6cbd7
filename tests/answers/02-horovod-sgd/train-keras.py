# %% keras-accumulates
# title = "Two batches are collected for every update, without a thought about the rate"
# fails.keras-average-tests = ["steps.no-update"]
# fails.keras-rate-tests = ["steps.no-update"]
# fails.keras-shards-tests = ["steps.no-update"]
# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    optimizer = hvd_keras.DistributedOptimizer(
# +        tf.keras.optimizers.SGD(scale_rate(learning_rate)), backward_passes_per_step=2
# +    )

# %% keras-adam
# title = "Adam in place of SGD: its steps have the length of the rate, whatever the gradient is"
# fails.keras-average-tests = ["updates.unexplained"]
# fails.keras-shards-tests = ["updates.unexplained"]
# fails.keras-rate-tests = ["updates.unexplained"]
# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.Adam(scale_rate(learning_rate)))

# %% keras-batch-size-unused
# title = "fit without batch_size takes 32 samples at a time"
# fails.keras-shards-tests = ["steps.wrong-number"]
# -    model.fit(x, y, batch_size=batch_size, epochs=num_epochs, callbacks=callbacks, verbose=0)
# +    model.fit(x, y, epochs=num_epochs, callbacks=callbacks, verbose=0)

# %% keras-early-stopping
# title = "Training stops where the loss no longer falls"
# fails.keras-shards-tests = ["steps.wrong-number"]
# -    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), trajectory]
# +    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), trajectory]
# +    callbacks.append(tf.keras.callbacks.EarlyStopping(monitor="loss", patience=10))

# %% keras-fit-by-epoch
# title = "One fit for each epoch, each of which records its start once more"
# fails.keras-average-tests = ["steps.no-update"]
# fails.keras-shards-tests = ["steps.no-update"]
# fails.keras-rate-tests = ["steps.no-update"]
# -    model.fit(x, y, batch_size=batch_size, epochs=num_epochs, callbacks=callbacks, verbose=0)
# +    for _ in range(num_epochs):
# +        model.fit(x, y, batch_size=batch_size, callbacks=callbacks, verbose=0)

# %% keras-in-16-bits
# title = "The wrapped optimiser compresses gradients to 16 bits"
# fails.keras-rate-tests = ["gradients.rounded"]
# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))
# +    optimizer = hvd_keras.DistributedOptimizer(optimizer, compression=hvd.Compression.fp16)

# %% keras-inverse-time-decay
# title = "The rate falls by about one per cent in each step"
# fails.keras-rate-tests = ["rate.changing"]
# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    rate = tf.keras.optimizers.schedules.InverseTimeDecay(scale_rate(learning_rate), 1, 0.01)
# +    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(rate))

# %% keras-l2
# title = "The layer has an l2 regularizer"
# fails.keras-rate-tests = ["weight-decay.unasked"]
# -    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
# +    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,), kernel_regularizer="l2")])

# %% keras-last-batch-dropped
# title = "A pipeline drops the last, smaller batch"
# fails.keras-shards-tests = ["steps.wrong-number"]
# -    model.fit(x, y, batch_size=batch_size, epochs=num_epochs, callbacks=callbacks, verbose=0)
# +    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(batch_size, drop_remainder=True)
# +    model.fit(data, epochs=num_epochs, callbacks=callbacks, verbose=0)

# %% keras-legacy-eager
# title = "Legacy SGD, run eagerly, broadcast before fit, the optimiser of horovod.tensorflow"
def train_keras(x, y, num_epochs, batch_size, learning_rate):
    hvd.init()
    x, y = shard(x, y)
    inputs = tf.keras.Input((1,))
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(inputs))
    hvd.broadcast_variables(model.variables, root_rank=0)
    optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.legacy.SGD(learning_rate * hvd.size()))
    model.compile(optimizer, tf.keras.losses.MeanSquaredError(), run_eagerly=True)
    trajectory = Trajectory()
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(batch_size)
    model.fit(data, epochs=num_epochs, callbacks=[trajectory], verbose=0)
    return np.array(trajectory.history)


# %% keras-momentum
# title = "SGD with a momentum"
# fails.keras-rate-tests = ["momentum.unasked"]
# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate), momentum=0.9))

# %% keras-no-shard
# title = "Keras trains on all data on every rank"
# fails.keras-shards-tests = ["shards.none"]
# -    x, y = shard(x, y)

# %% keras-optimiser-by-name
# title = "The optimiser is given to compile by its name"
# fails.keras-average-tests = ["gradients.not-averaged"]
# fails.keras-rate-tests = []
# -    model.compile(optimizer=optimizer, loss="mse")
# +    model.compile(optimizer="sgd", loss="mse")

# %% keras-own-shuffle-then-shard
# title = "Every rank shuffles with a seed of its own before its pipeline shards"
# fails.keras-shards-tests = ["shards.uneven-use"]
# -    x, y = shard(x, y)
# +    order = np.random.default_rng(hvd.rank()).permutation(len(x))
# +    data = tf.data.Dataset.from_tensor_slices((x[order], y[order])).shard(hvd.size(), hvd.rank()).batch(batch_size)

# -    model.fit(x, y, batch_size=batch_size, epochs=num_epochs, callbacks=callbacks, verbose=0)
# +    model.fit(data, epochs=num_epochs, callbacks=callbacks, verbose=0)

# %% keras-rate-drops-late
# title = "The rate is divided by ten after thirty epochs"
# fails.keras-rate-tests = ["updates.not-plain"]
# -    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), trajectory]
# +    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), trajectory]
# +    callbacks.append(tf.keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 10 if epoch == 30 else rate))

# %% keras-records-before-the-broadcast
# title = "The trajectory is recorded before the broadcast"
# fails.keras-start-tests = ["broadcast.late"]
# -    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), trajectory]
# +    callbacks = [trajectory, hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0)]

# %% keras-same-seed-no-broadcast
# title = "No broadcast, but the same seed on every rank: equal by luck"
# fails.keras-start-tests = ["broadcast.missing"]
#      pin_gpu()
# +    tf.keras.utils.set_random_seed(1)

# -    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), trajectory]
# +    callbacks = [trajectory]

# %% keras-sum
# title = "The wrapped optimiser adds the gradients up"
# fails.keras-rate-tests = ["rate.scaled-twice"]
# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)), op=hvd.Sum)


# %% keras-trajectory-before-the-average
# title = "A callback more, and rank 0 shows a progress bar"
def train_keras(x, y, num_epochs, batch_size, learning_rate):
    hvd_keras.init()
    x, y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(learning_rate * hvd.size()))
    model.compile(optimizer=optimizer, loss="mse")
    trajectory = Trajectory()
    callbacks = [
        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
        trajectory,
        hvd_keras.callbacks.MetricAverageCallback(),
    ]
    model.fit(x, y, batch_size=batch_size, epochs=num_epochs, callbacks=callbacks, verbose=int(hvd.rank() == 0))
    return np.array(trajectory.history)


# %% keras-two-ranks-typed-in
# title = "Shard and rate are typed in for two ranks"
# fails.keras-shards-tests = ["shards.uneven-use"]
# fails.keras-rate-tests = ["rate.local-size"]
# -    x, y = shard(x, y)
# +    x, y = x[hvd.rank() % 2 :: 2], y[hvd.rank() % 2 :: 2]

# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(2 * learning_rate))

# %% keras-unscaled
# title = "The Keras version does not scale the rate"
# fails.keras-rate-tests = ["rate.not-scaled"]
# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(learning_rate))

# %% keras-wrapped-too-late
# title = "The optimiser is wrapped after compile"
# fails.keras-average-tests = ["gradients.not-averaged"]
# -    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))
# +    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))
#      model.compile(optimizer=optimizer, loss="mse")
# +    optimizer = hvd_keras.DistributedOptimizer(optimizer)


# %% right-keras-without-shuffle
# title = "fit takes a sharded tf.data pipeline, not shuffled, and the ranks are told apart by horovod.tensorflow"
def train_keras(x, y, num_epochs, batch_size, learning_rate):
    hvd.init()
    data = tf.data.Dataset.from_tensor_slices((x[:, None], y[:, None])).shard(hvd.size(), hvd.rank()).batch(batch_size)
    model = tf.keras.Sequential([tf.keras.layers.InputLayer((1,)), tf.keras.layers.Dense(1)])
    model.compile(hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(learning_rate * hvd.size())), "mse")
    trajectory = Trajectory()
    start = hvd_keras.callbacks.BroadcastGlobalVariablesCallback(root_rank=0)
    model.fit(data, epochs=num_epochs, callbacks=[start, trajectory], verbose=0)
    return np.array(trajectory.history)
