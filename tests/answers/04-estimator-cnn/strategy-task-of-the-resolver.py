# /// answer
# title = "The worker asks the cluster resolver; batches for all are split by fit"
# ///

# %% role="answer" id="train-with-strategy"
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
