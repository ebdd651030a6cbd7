# %% right-run-eagerly
# title = "compile with run_eagerly"
#          metrics=["accuracy"],
# +        run_eagerly=True,

# %% right-train-in-other-order
# title = "Resume and broadcast once more, and more in the result"
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
        callbacks=make_callbacks(folder) + [warm_up, *more_callbacks],
        verbose=0,
    )
    return {
        "num_steps": num_steps,
        "history": network.history.history,
        "validation": evaluate(network, validation),
        "rate": rate,
    }


# %% train-adds-lists
# title = "Callbacks added up as lists, and a tuple is none"
# fails.train-tests = ["answer.raised", "TypeError"]
# fails.continued-tests = []
# -        callbacks=[*make_callbacks(folder), warm_up, *more_callbacks],
# +        callbacks=make_callbacks(folder) + [warm_up] + more_callbacks,

# %% train-all-epochs-again
# title = "The checkpoint is loaded, but fit begins with epoch 0"
# fails.continued-tests = ["steps.wrong-number"]
# -    first_epoch = resume(network, folder)
# +    resume(network, folder)

# -        initial_epoch=first_epoch,

# %% train-batch-for-two-ranks
# title = "The pictures of an epoch are divided by the notebook's num_ranks"
# fails.train-tests = ["steps.wrong-number"]
# +    num_images = num_images * hvd.size() // num_ranks
#      batch_size, rate, num_steps = plan(

# %% train-batch-not-divided
# title = "The batch of the settings instead of the one of the plan"
# fails.train-tests = ["batches.wrong-size"]
# -        make_dataset(train_files, batch_size, training=True),
# +        make_dataset(train_files, settings["batch_size"], training=True),

# %% train-compiles-by-name
# title = "compile gets the name of an optimiser instead of the one that averages"
# fails.train-tests = ["updates.unexplained"]
# -        make_optimizer(rate, settings["compression"]),
# +        "sgd",

# %% train-compression-of-the-notebook
# title = "The parameter compression instead of the entry of settings"
# fails.train-tests = ["compression.wrong-bits"]
# -        make_optimizer(rate, settings["compression"]),
# +        make_optimizer(rate, compression),

# %% train-epochs-of-the-notebook
# title = "The parameter num_epochs instead of the entry of settings"
# fails.continued-tests = ["steps.none"]
# -        epochs=settings["num_epochs"],
# +        epochs=num_epochs,

# %% train-evaluates-by-keras
# title = "Keras' own evaluate, which knows the images of its rank alone"
# fails.train-tests = ["metrics.not-averaged"]
# -    validation = evaluate(network, make_dataset(validation_files, batch_size, training=False))
# +    validation = network.evaluate(make_dataset(validation_files, batch_size, training=False), verbose=0, return_dict=True)

# %% train-forgets-more-callbacks
# title = "The callbacks of the caller are not handed on"
# fails.train-tests = ["callbacks.not-called"]
# -        callbacks=[*make_callbacks(folder), warm_up, *more_callbacks],
# +        callbacks=[*make_callbacks(folder), warm_up],

# %% train-history-as-object
# title = "What fit returns for its history"
# fails.train-tests = ["answer.wrong-type"]
# fails.continued-tests = []
# -    return {"history": history.history, "validation": validation, "num_steps": num_steps}
# +    return {"history": history, "validation": validation, "num_steps": num_steps}

# %% train-ignores-max-num-steps
# title = "max_num_steps has no effect"
# fails.continued-tests = ["steps.wrong-number"]
# -    num_steps = min(num_steps, settings["max_num_steps"] or num_steps)

# %% train-limits-only-fit
# title = "The limit of the steps reaches fit alone: warm-up and result have those of the plan"
# fails.continued-tests = ["steps.wrong-number"]
# -    num_steps = min(num_steps, settings["max_num_steps"] or num_steps)

# -        steps_per_epoch=num_steps,
# +        steps_per_epoch=min(num_steps, settings["max_num_steps"] or num_steps),

# %% train-makes-callbacks-for-nobody
# title = "The callbacks are made and not passed to fit"
# fails.train-tests = ["metrics.not-averaged"]
# fails.continued-tests = []
# +    make_callbacks(folder)
#      first_epoch = resume(network, folder)

# -        callbacks=[*make_callbacks(folder), warm_up, *more_callbacks],
# +        callbacks=[warm_up, *more_callbacks],

# %% train-max-num-steps-for-all
# title = "max_num_steps, where it is given, in place of the steps of the plan"
# fails.train-tests = ["epochs.lengthened"]
# -    num_steps = min(num_steps, settings["max_num_steps"] or num_steps)
# +    num_steps = settings["max_num_steps"] or num_steps

# %% train-more-callbacks-first
# title = "The callbacks of the caller come first, and see the metrics of their rank alone"
# fails.train-tests = ["callbacks.wrong-order"]
# -        callbacks=[*make_callbacks(folder), warm_up, *more_callbacks],
# +        callbacks=[*more_callbacks, *make_callbacks(folder), warm_up],

# %% train-no-accuracy
# title = "Compiled without the metric"
# fails.train-tests = ["answer.no-entry"]
# -        metrics=["accuracy"],

# %% train-pins-after-building
# title = "The GPU is pinned when the network is built already"
# fails.train-tests = ["gpu.pinned-late"]
# -    pin_gpu()
# -    network = build()
# +    network = build()
# +    pin_gpu()

# %% train-rate-of-local-size
# title = "The rate is that of the ranks of a node"
# fails.train-tests = ["rate.uneven"]
#      num_steps = min(num_steps, settings["max_num_steps"] or num_steps)
# +    rate *= hvd.local_size() / hvd.size()

# %% train-returns-early
# title = "Nothing is left to train, so nothing is validated"
# fails.continued-tests = ["validation.none"]
#      first_epoch = resume(network, folder)
# +    if first_epoch >= settings["num_epochs"]:
# +        return {"history": {}, "validation": {}, "num_steps": num_steps}

# %% train-shortens-the-warm-up
# title = "Epochs that are done are taken off the warm-up, whose steps count from the first"
# fails.continued-tests = ["rate.wrong"]
# -    warm_up = WarmUp(rate, num_steps * settings["num_warmup_epochs"])
# +    warm_up = WarmUp(rate, num_steps * max(0, settings["num_warmup_epochs"] - first_epoch))

# %% train-unequal-steps
# title = "Each rank makes the steps of its own pictures, and one waits for the other"
# fails.train-tests = ["ranks.deadlock"]
# fails.continued-tests = []
# -    num_images = imagenet.count_images(train_files)
# +    num_images = hvd.size() * imagenet.count_images(train_files[hvd.rank() :: hvd.size()])

# %% train-validates-everywhere
# title = "Every rank validates on all files"
# fails.train-tests = ["shards.none"]
# -    validation = evaluate(network, make_dataset(validation_files, batch_size, training=False))
# +    validation = evaluate(network, make_dataset([file for file in validation_files for _ in range(hvd.size())], batch_size, False))

# %% train-validates-in-fit
# title = "fit validates after each epoch, too, and averages without weights"
# fails.train-tests = ["samples.not-once"]
#          steps_per_epoch=num_steps,
# +        validation_data=make_dataset(validation_files, batch_size, training=False),

# %% train-validates-on-training-files
# title = "The training files are used for validation"
# fails.train-tests = ["images.foreign"]
# -    validation = evaluate(network, make_dataset(validation_files, batch_size, training=False))
# +    validation = evaluate(network, make_dataset(train_files, batch_size, training=False))

# %% train-warm-up-in-epochs
# title = "The warm-up is given its epochs, and counts steps"
# fails.train-tests = ["rate.no-warm-up"]
# -    warm_up = WarmUp(rate, num_steps * settings["num_warmup_epochs"])
# +    warm_up = WarmUp(rate, settings["num_warmup_epochs"])

# %% train-warm-up-of-the-notebook
# title = "The parameter num_warmup_epochs instead of the entry of settings"
# fails.train-tests = ["rate.wrong"]
# -    warm_up = WarmUp(rate, num_steps * settings["num_warmup_epochs"])
# +    warm_up = WarmUp(rate, num_steps * num_warmup_epochs)

# %% train-without-logits
# title = "The loss takes logits for probabilities"
# fails.train-tests = ["loss.no-logits"]
# -        tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
# +        tf.keras.losses.SparseCategoricalCrossentropy(),

# %% train-wraps-after-compiling
# title = "The optimiser is wrapped when the network is compiled already with the plain one"
# fails.train-tests = ["gradients.not-averaged"]
# +    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
#      network.compile(
# -        make_optimizer(rate, settings["compression"]),
# +        optimizer,

# +    optimizer = hvd_keras.DistributedOptimizer(optimizer)
#      first_epoch = resume(network, folder)


# %% train-no-warm-up-is-one-epoch
# title = "An `or` replaces 0 epochs of warm-up by the notebook's number"
# fails.train-tests = ["rate.wrong"]
# -    warm_up = WarmUp(rate, num_steps * settings["num_warmup_epochs"])
# +    warm_up = WarmUp(rate, num_steps * (settings["num_warmup_epochs"] or num_warmup_epochs))

# %% train-warm-up-last
# title = "WarmUp comes after more_callbacks, which see the rate of the last step"
# fails.train-tests = ["callbacks.wrong-order"]
# -        callbacks=[*make_callbacks(folder), warm_up, *more_callbacks],
# +        callbacks=[*make_callbacks(folder), *more_callbacks, warm_up],
