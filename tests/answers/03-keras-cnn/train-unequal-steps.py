# /// answer
# title = "Each rank makes the steps of its own pictures, and one waits for the other"
# verdict = "wrong"
#
# [fails]
# train-tests = ["did not end well"]
# continued-tests = []
# ///

# %% role="answer" id="train"
def train(build, train_files, validation_files, folder, settings, more_callbacks=()):
    pin_gpu()
    network = build()
    num_images = hvd.size() * imagenet.count_images(train_files[hvd.rank() :: hvd.size()])
    batch_size, rate, num_steps = plan(
        num_images, settings["batch_size"], settings["learning_rate"], settings["global_batch_size"]
    )
    if settings["max_num_steps"] > 0:
        num_steps = min(num_steps, settings["max_num_steps"])
    optimizer = make_optimizer(rate, settings["compression"])
    network.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    first_epoch = resume(network, folder)
    callbacks = make_callbacks(folder)
    callbacks += [WarmUp(rate, num_steps * settings["num_warmup_epochs"]), *more_callbacks]
    history = network.fit(
        make_dataset(train_files, batch_size, training=True),
        steps_per_epoch=num_steps,
        epochs=settings["num_epochs"],
        initial_epoch=first_epoch,
        callbacks=callbacks,
        verbose=0,
    )
    validation = evaluate(network, make_dataset(validation_files, batch_size, training=False))
    return {"history": history.history, "validation": validation, "num_steps": num_steps}
