# /// answer
# title = "The pieces have arguments that train gives, and the model function brings the broadcast hook"
# ///

# %% role="answer" id="input-fn"
def input_fn(files, training, worker, num_workers, params, buffer_size=1000):
    records = read_files(files[worker::num_workers])
    if training:
        records = records.shuffle(buffer_size, seed=params["seed"]).repeat()
    return make_batches(records, training, params)


# %% role="changes" id="model-fn"
# -    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
# +    hooks = [hvd.BroadcastGlobalVariablesHook(0)]
# +    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=hooks)

# %% role="changes" id="make-run-config"
# -def make_run_config(folder):
# +def make_run_config(folder, every=100):

# -    writing = {"model_dir": folder, "save_checkpoints_steps": 100}
# +    writing = {"model_dir": folder, "save_checkpoints_steps": every}

# %% role="changes" id="train"
# -    estimator = tf.estimator.Estimator(model_fn, config=make_run_config(folder), params=params)
# +    estimator = tf.estimator.Estimator(model_fn, config=make_run_config(folder, every=100), params=params)

# -            lambda: input_fn(files, True, hvd.rank(), hvd.size(), params),
# -            hooks=[hvd.BroadcastGlobalVariablesHook(0), *hooks],
# +            lambda: input_fn(files, True, hvd.rank(), hvd.size(), params, buffer_size=1000),
# +            hooks=list(hooks),

# %% role="changes" id="evaluate"
# -    own = lambda: input_fn(files, False, hvd.rank(), hvd.size(), params)
# +    own = lambda: input_fn(files, False, hvd.rank(), hvd.size(), params, buffer_size=0)

# %% role="changes" id="train-with-strategy"
# -        lambda context: input_fn(files, True, context.input_pipeline_id, context.num_input_pipelines, params)
# +        lambda context: input_fn(
# +            files, True, context.input_pipeline_id, context.num_input_pipelines, params, buffer_size=1000
# +        )
