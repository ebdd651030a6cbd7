# /// answer
# title = "A gradient tape in strategy.run instead of fit"
# ///

# %% role="answer" id="train-with-strategy"
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
