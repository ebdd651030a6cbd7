# %% custom-loop-with-strategy
# title = "A gradient tape in strategy.run instead of fit"
def train_with_strategy(files, num_steps, params, callbacks=()):
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        network = params["build"]()
        optimizer = tf.keras.optimizers.SGD(params["learning_rate"] * strategy.num_replicas_in_sync, momentum=0.9)
        loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")

    def step(pictures, labels):
        with tf.GradientTape() as tape:
            losses = loss_of(labels, network(pictures, training=True))
            loss = tf.nn.compute_average_loss(losses)
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables))

    run_step = tf.function(lambda batch: strategy.run(step, args=batch))
    data = strategy.distribute_datasets_from_function(
        lambda context: input_fn(files, True, context.input_pipeline_id, context.num_input_pipelines, params)
    )
    for _, batch in zip(range(num_steps // strategy.num_replicas_in_sync), data):
        run_step(batch)


# %% strategy-by-horovod
# title = "Horovod is asked for the number of workers"
# fails.strategy-together-tests = ["strategy.horovod"]
# fails.strategy-plan-tests = []
# -    num_workers = strategy.num_replicas_in_sync
# +    num_workers = hvd.size()

# %% strategy-batch-divided
# title = "The size of a batch is divided by the workers, as if it were that of all"
# fails.strategy-plan-tests = ["batches.wrong-size"]
# -        lambda context: input_fn(files, True, context.input_pipeline_id, context.num_input_pipelines, params)
# +        lambda context: input_fn(
# +            files,
# +            True,
# +            context.input_pipeline_id,
# +            context.num_input_pipelines,
# +            {**params, "batch_size": params["batch_size"] // num_workers},
# +        )

# %% strategy-callbacks-left-out
# title = "Callbacks that are given are not passed on"
# fails.strategy-plan-tests = ["callbacks.not-called"]
# -    network.fit(dataset, steps_per_epoch=num_steps // num_workers, verbose=0, callbacks=list(callbacks))
# +    network.fit(dataset, steps_per_epoch=num_steps // num_workers, verbose=0)


# %% strategy-decays-weights
# title = "Weight decay is added"
# fails.strategy-together-tests = ["weights.decayed"]
# -        optimizer = tf.keras.optimizers.SGD(params["learning_rate"] * num_workers, momentum=0.9)
# +        optimizer = tf.keras.optimizers.SGD(params["learning_rate"] * num_workers, momentum=0.9, weight_decay=1e-4)


# %% strategy-default
# title = "The default strategy: each worker trains alone"
# fails.strategy-together-tests = ["strategy.alone"]
def train_with_strategy(files, num_steps, params, callbacks=()):
    config = json.loads(os.environ["TF_CONFIG"])
    num_workers = len(config["cluster"]["worker"])
    network = params["build"]()
    optimizer = tf.keras.optimizers.SGD(params["learning_rate"] * num_workers, momentum=0.9)
    network.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    dataset = input_fn(files, True, config["task"]["index"], num_workers, params)
    network.fit(dataset, steps_per_epoch=num_steps // num_workers, verbose=0, callbacks=list(callbacks))


# %% strategy-evaluation-data
# title = "The data of an evaluation, repeated"
# fails.strategy-plan-tests = ["batches.wrong-size"]
# -        lambda context: input_fn(files, True, context.input_pipeline_id, context.num_input_pipelines, params)
# +        lambda context: input_fn(
# +            files, False, context.input_pipeline_id, context.num_input_pipelines, params
# +        ).repeat()

# %% strategy-files-lost
# title = "As many files for each worker, and what is left over for nobody"
# fails.strategy-together-tests = ["shards.incomplete"]
#      num_workers = strategy.num_replicas_in_sync
# +    num_files = len(files) // num_workers
# +    first = lambda context: context.input_pipeline_id * num_files

# -        lambda context: input_fn(files, True, context.input_pipeline_id, context.num_input_pipelines, params)
# +        lambda context: input_fn(files[first(context) : first(context) + num_files], True, 0, 1, params)

# %% strategy-no-shard
# title = "All workers read all files"
# fails.strategy-together-tests = ["shards.overlap"]
# -    dataset = strategy.distribute_datasets_from_function(
# -        lambda context: input_fn(files, True, context.input_pipeline_id, context.num_input_pipelines, params)
# -    )
# +    dataset = strategy.distribute_datasets_from_function(lambda context: input_fn(files, True, 0, 1, params))

# %% strategy-plain-data-set
# title = "fit gets a plain data set, and divides its batches among the workers: some are empty"
# fails.strategy-plan-tests = ["batches.wrong-size"]
# consequences = ["strategy-together-tests"]
# -    dataset = strategy.distribute_datasets_from_function(
# -        lambda context: input_fn(files, True, context.input_pipeline_id, context.num_input_pipelines, params)
# -    )
# +    dataset = input_fn(files, True, 0, 1, params)

# %% strategy-rate-decays
# title = "The rate decays"
# fails.strategy-plan-tests = ["rate.changing"]
# -        optimizer = tf.keras.optimizers.SGD(params["learning_rate"] * num_workers, momentum=0.9)
# +        rate = tf.keras.optimizers.schedules.ExponentialDecay(params["learning_rate"] * num_workers, 1000, 0.9)
# +        optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)

# %% strategy-steps-not-divided
# title = "All steps on each worker"
# fails.strategy-plan-tests = ["steps.not-divided"]
# -    network.fit(dataset, steps_per_epoch=num_steps // num_workers, verbose=0, callbacks=list(callbacks))
# +    network.fit(dataset, steps_per_epoch=num_steps, verbose=0, callbacks=list(callbacks))


# %% strategy-task-of-the-resolver
# title = "The worker asks the cluster resolver; batches for all are split by fit"
def train_with_strategy(files, num_steps, params, callbacks=()):
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    worker, num_workers = strategy.cluster_resolver.task_id, strategy.num_replicas_in_sync
    with strategy.scope():
        network = params["build"]()
        optimizer = tf.keras.optimizers.SGD(num_workers * params["learning_rate"], 0.9)
        network.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    of_all = {**params, "batch_size": params["batch_size"] * num_workers}
    dataset = input_fn(files, True, worker, num_workers, of_all).with_options(options)
    return network.fit(dataset, steps_per_epoch=num_steps // num_workers, callbacks=[*callbacks])


# %% strategy-unscaled
# title = "The rate of one worker"
# fails.strategy-plan-tests = ["rate.not-scaled"]
# -        optimizer = tf.keras.optimizers.SGD(params["learning_rate"] * num_workers, momentum=0.9)
# +        optimizer = tf.keras.optimizers.SGD(params["learning_rate"], momentum=0.9)
