# /// answer
# title = "The configuration is made and not handed over, as in 2019; the folder is"
# verdict = "wrong"
#
# [fails]
# train-config-tests = ["see all GPUs"]
# ///

# %% role="answer" id="train"
def train(files, folder, num_steps, params, hooks=()):
    """Train on all ranks together what is left of `num_steps` steps of one process; return the Estimator."""
    config = make_run_config(folder)
    estimator = tf.estimator.Estimator(model_fn, model_dir=config.model_dir if hvd.rank() == 0 else None, params=params)
    num_steps = num_steps // hvd.size()
    if hvd.broadcast_object(num_steps_done(folder), root_rank=0) < num_steps:
        estimator.train(
            lambda: input_fn(files, True, hvd.rank(), hvd.size(), params),
            hooks=[hvd.BroadcastGlobalVariablesHook(0), *hooks],
            max_steps=num_steps,
        )
    return estimator
