# /// answer
# title = "The steps that are left instead of max_steps, and a config made step by step"
# ///

# %% role="answer" id="make-run-config"
def make_run_config(folder):
    config = tf.estimator.RunConfig(tf_random_seed=seed)
    options = tf.compat.v1.GPUOptions(allow_growth=True, visible_device_list=f"{hvd.local_rank()}")
    config = config.replace(session_config=tf.compat.v1.ConfigProto(gpu_options=options, allow_soft_placement=True))
    if hvd.rank() != 0:
        return config
    return config.replace(model_dir=folder, save_checkpoints_steps=100, keep_checkpoint_max=2)


# %% role="answer" id="train"
def train(files, folder, num_steps, params, hooks=()):
    estimator = tf.estimator.Estimator(model_fn, config=make_run_config(folder), params=params)
    done = hvd.broadcast_object(num_steps_done(folder), root_rank=0)
    left = num_steps // hvd.size() - done
    if left <= 0:
        return estimator
    all_hooks = list(hooks) + [hvd.BroadcastGlobalVariablesHook(0)]
    own = functools.partial(input_fn, files, True, hvd.rank(), hvd.size(), params)
    return estimator.train(own, steps=left, hooks=all_hooks)
