# /// answer
# title = "The steps are divided by the ranks of the node"
# verdict = "wrong"
# consequences = ["train-shards-tests"]
#
# [fails]
# train-steps-tests = ["did not end well"]
# ///

# %% role="answer" id="train"
def train(files, folder, num_steps, params, hooks=()):
    estimator = tf.estimator.Estimator(model_fn, config=make_run_config(folder), params=params)
    num_steps = num_steps // hvd.local_size()
    if hvd.broadcast_object(num_steps_done(folder), root_rank=0) < num_steps:
        estimator.train(
            lambda: input_fn(files, True, hvd.rank(), hvd.size(), params),
            hooks=[hvd.BroadcastGlobalVariablesHook(0), *hooks],
            max_steps=num_steps,
        )
    return estimator
