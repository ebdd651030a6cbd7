# /// answer
# title = "The local rank is the worker: right on one node, twice the same files on two"
# verdict = "wrong"
#
# [fails]
# train-shards-tests = ["used by several ranks"]
# ///

# %% role="answer" id="train"
def train(files, folder, num_steps, params, hooks=()):
    estimator = tf.estimator.Estimator(model_fn, config=make_run_config(folder), params=params)
    num_steps = num_steps // hvd.size()
    if hvd.broadcast_object(num_steps_done(folder), root_rank=0) < num_steps:
        estimator.train(
            lambda: input_fn(files, True, hvd.local_rank(), hvd.size(), params),
            hooks=[hvd.BroadcastGlobalVariablesHook(0), *hooks],
            max_steps=num_steps,
        )
    return estimator
