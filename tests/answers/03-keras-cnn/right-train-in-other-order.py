# /// answer
# title = "Resume and broadcast once more, callbacks on other places, more in the result"
# ///

# %% role="answer" id="train"
def train(build, train_files, validation_files, folder, settings, more_callbacks=()):
    pin_gpu()
    settings = dict(settings)
    folder = Path(folder)
    batch_size, rate, num_steps = plan(
        imagenet.count_images(train_files),
        settings["batch_size"],
        settings["learning_rate"],
        global_batch_size=settings["global_batch_size"],
    )
    if settings["max_num_steps"]:
        num_steps = min(num_steps, settings["max_num_steps"])
    dataset = make_dataset(train_files, batch_size, True)
    validation = make_dataset(validation_files, batch_size, False)
    network = build()
    network.compile(
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        optimizer=make_optimizer(settings["learning_rate"], settings["compression"]),
        metrics=["accuracy"],
    )
    num_epochs_done = resume(network, folder)
    hvd.broadcast_variables(network.variables, root_rank=0)
    warm_up = WarmUp(rate, num_steps * settings["num_warmup_epochs"])
    network.fit(
        dataset,
        steps_per_epoch=num_steps,
        epochs=settings["num_epochs"],
        initial_epoch=num_epochs_done,
        callbacks=[warm_up, *more_callbacks] + make_callbacks(folder),
        verbose=0,
    )
    return {
        "num_steps": num_steps,
        "history": network.history.history,
        "validation": evaluate(network, validation),
        "rate": rate,
    }
