# /// answer
# title = "Rank 0 sends the names of the files; the last rank evaluates the first ones"
# ///

# %% role="answer" id="train"
def train(files, folder, num_steps, params, hooks=()):
    names = hvd.broadcast_object([str(file) for file in files], root_rank=0)
    estimator = tf.estimator.Estimator(model_fn, config=make_run_config(folder), params=params)
    num_steps = int(num_steps / hvd.size())
    done = int(hvd.broadcast(tf.constant(num_steps_done(folder)), root_rank=0))
    if done != num_steps:
        worker = hvd.size() - 1 - hvd.rank()
        own = functools.partial(input_fn, names, True, worker, hvd.size(), params)
        estimator.train(own, [*hooks, hvd.BroadcastGlobalVariablesHook(root_rank=0)], max_steps=num_steps)
    return estimator


# %% role="answer" id="evaluate"
def evaluate(estimator, files, params):
    names = hvd.broadcast_object(list(files))
    checkpoint = hvd.broadcast_object(estimator.latest_checkpoint())
    worker = hvd.size() - 1 - hvd.rank()
    result = estimator.evaluate(lambda: input_fn(names, False, worker, hvd.size(), params), checkpoint_path=checkpoint)
    count = imagenet.count_images(names[worker :: hvd.size()])
    found = hvd.allgather(tf.constant([[result["accuracy"] * count, count]], tf.float64)).numpy().sum(axis=0)
    return {"accuracy": found[0] / found[1], "num_pictures": found[1]}
