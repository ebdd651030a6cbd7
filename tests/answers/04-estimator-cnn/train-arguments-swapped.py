# /// answer
# title = "Arguments of the input function in the wrong order: shard 2 of 0, shard 2 of 1"
# verdict = "wrong"
#
# [fails]
# train-start-tests = []
# train-shards-tests = ["did not end well"]
# train-steps-tests = []
# train-config-tests = []
# train-continued-tests = []
# ///

# %% role="answer" id="train"
def train(files, folder, num_steps, params, hooks=()):
    """Train on all ranks together what is left of `num_steps` steps of one process; return the Estimator."""
    estimator = tf.estimator.Estimator(model_fn, config=make_run_config(folder), params=params)
    num_steps = num_steps // hvd.size()
    if hvd.broadcast_object(num_steps_done(folder), root_rank=0) < num_steps:
        estimator.train(
            lambda: input_fn(files, True, hvd.size(), hvd.rank(), params),
            hooks=[hvd.BroadcastGlobalVariablesHook(0), *hooks],
            max_steps=num_steps,
        )
    return estimator
