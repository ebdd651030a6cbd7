# /// answer
# title = "Every rank looks for the number of steps in its own model_dir"
# verdict = "wrong"
#
# [fails]
# train-continued-tests = ["had already finished"]
# ///

# %% role="answer" id="train"
def train(files, folder, num_steps, params, hooks=()):
    """Train on all ranks together what is left of `num_steps` steps of one process; return the Estimator."""
    estimator = tf.estimator.Estimator(model_fn, config=make_run_config(folder), params=params)
    num_steps = num_steps // hvd.size()
    if num_steps_done(estimator.model_dir) < num_steps:
        estimator.train(
            lambda: input_fn(files, True, hvd.rank(), hvd.size(), params),
            hooks=[hvd.BroadcastGlobalVariablesHook(0), *hooks],
            max_steps=num_steps,
        )
    return estimator
