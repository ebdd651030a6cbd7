# /// answer
# title = "The callbacks are made and not passed to fit"
# verdict = "wrong"
#
# [fails]
# train-tests = ["differs from that of rank 0"]
# continued-tests = []
# ///

# %% role="answer" id="train"
def train(build, train_files, validation_files, folder, settings, more_callbacks=()):
    pin_gpu()
    network = build()
    batch_size, rate, num_steps = plan(
        imagenet.count_images(train_files),
        settings["batch_size"],
        settings["learning_rate"],
        settings["global_batch_size"],
    )
    num_steps = min(num_steps, settings["max_num_steps"] or num_steps)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    network.compile(make_optimizer(rate, settings["compression"]), loss, metrics=["accuracy"])
    make_callbacks(folder)
    first_epoch = resume(network, folder)
    warm_up = WarmUp(rate, num_steps * settings["num_warmup_epochs"])
    history = network.fit(
        make_dataset(train_files, batch_size, training=True),
        steps_per_epoch=num_steps,
        epochs=settings["num_epochs"],
        initial_epoch=first_epoch,
        callbacks=[*(), warm_up, *more_callbacks],
        verbose=0,
    )
    validation = evaluate(network, make_dataset(validation_files, batch_size, training=False))
    return {"history": history.history, "validation": validation, "num_steps": num_steps}
