# %% config-a-checkpoint-every-50-steps
# title = "A checkpoint twice as often as asked for"
# fails.config-files-tests = ["checkpoint.wrong-steps"]
# -    writing = {"model_dir": folder, "save_checkpoints_steps": 100}
# +    writing = {"model_dir": folder, "save_checkpoints_steps": 50}

# %% config-files-by-local-rank
# title = "The first rank of each node writes"
# fails.config-files-tests = ["writers.not-rank-0"]
# -    files = writing if hvd.rank() == 0 else silent
# +    files = writing if hvd.local_rank() == 0 else silent

# %% config-folder-for-all
# title = "The folder is everybody's model_dir, and only rank 0 saves"
# fails.config-files-tests = ["writers.not-rank-0"]
# -    silent = {"save_checkpoints_steps": None, "save_checkpoints_secs": None, "save_summary_steps": None}
# +    silent = {"model_dir": folder, "save_checkpoints_steps": None, "save_checkpoints_secs": None}

# %% config-no-checkpoints
# title = "Checkpoints are turned off on every rank"
# fails.config-files-tests = ["checkpoint.missing"]
# -    writing = {"model_dir": folder, "save_checkpoints_steps": 100}
# +    writing = {"model_dir": folder, "save_checkpoints_steps": None, "save_checkpoints_secs": None}

# %% config-no-growth
# title = "The first session takes all of its GPU"
# fails.config-pin-tests = ["gpu.no-growth"]
# -    session_config.gpu_options.allow_growth = True

# %% config-not-in-run-config
# title = "The session configuration is made and left out of the RunConfig"
# fails.config-pin-tests = ["gpu.all-visible"]
# -    return tf.estimator.RunConfig(session_config=session_config, tf_random_seed=seed, **files)
# +    return tf.estimator.RunConfig(tf_random_seed=seed, **files)

# %% config-pin-by-rank
# title = "Pinned by the rank"
# fails.config-pin-tests = ["gpu.wrong"]
# -    session_config.gpu_options.visible_device_list = str(hvd.local_rank())
# +    session_config.gpu_options.visible_device_list = str(hvd.rank())

# %% config-seed-by-rank
# title = "Another seed on each rank"
# fails.config-files-tests = ["seed.wrong"]
# -    return tf.estimator.RunConfig(session_config=session_config, tf_random_seed=seed, **files)
# +    return tf.estimator.RunConfig(session_config=session_config, tf_random_seed=seed + hvd.rank(), **files)

# %% steps-that-are-left
# title = "The steps that are left instead of max_steps, and a config made step by step"
def make_run_config(folder):
    config = tf.estimator.RunConfig(tf_random_seed=seed)
    options = tf.compat.v1.GPUOptions(allow_growth=True, visible_device_list=f"{hvd.local_rank()}")
    config = config.replace(session_config=tf.compat.v1.ConfigProto(gpu_options=options, allow_soft_placement=True))
    if hvd.rank() != 0:
        return config
    return config.replace(model_dir=folder, save_checkpoints_steps=100, keep_checkpoint_max=2)


# %% id="train"
def train(files, folder, num_steps, params, hooks=()):
    estimator = tf.estimator.Estimator(model_fn, config=make_run_config(folder), params=params)
    done = hvd.broadcast_object(num_steps_done(folder), root_rank=0)
    left = num_steps // hvd.size() - done
    if left <= 0:
        return estimator
    all_hooks = list(hooks) + [hvd.BroadcastGlobalVariablesHook(0)]
    own = functools.partial(input_fn, files, True, hvd.rank(), hvd.size(), params)
    return estimator.train(own, steps=left, hooks=all_hooks)
