# /// answer
# title = "The hook is made, and given to nobody"
# verdict = "wrong"
#
# [fails]
# train-start-tests = ["not broadcast"]
# train-continued-tests = []
# ///

# %% role="answer" id="train"
def train(files, folder, num_steps, params, hooks=()):
    """Train on all ranks together what is left of `num_steps` steps of one process; return the Estimator."""
    estimator = tf.estimator.Estimator(model_fn, config=make_run_config(folder), params=params)
    hook = hvd.BroadcastGlobalVariablesHook(0)
    num_steps = num_steps // hvd.size()
    if hvd.broadcast_object(num_steps_done(folder), root_rank=0) < num_steps:
        estimator.train(
            lambda: input_fn(files, True, hvd.rank(), hvd.size(), params),
            hooks=list(hooks),
            max_steps=num_steps,
        )
    return estimator
