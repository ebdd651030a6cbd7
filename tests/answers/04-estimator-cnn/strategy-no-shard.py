# /// answer
# title = "All workers read all files"
# verdict = "wrong"
#
# [fails]
# strategy-together-tests = ["not disjoint"]
# ///

# %% role="answer" id="train-with-strategy"
def train_with_strategy(files, num_steps, params, callbacks=()):
    """Train on all workers together as many steps as `num_steps` of one process stand for."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    num_workers = strategy.num_replicas_in_sync
    with strategy.scope():
        network = params["build"]()
        optimizer = tf.keras.optimizers.SGD(params["learning_rate"] * num_workers, momentum=0.9)
        network.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    dataset = strategy.distribute_datasets_from_function(lambda context: input_fn(files, True, 0, 1, params))
    network.fit(dataset, steps_per_epoch=num_steps // num_workers, verbose=0, callbacks=list(callbacks))
