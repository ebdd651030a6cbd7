# /// answer
# title = "Pinned by the rank"
# verdict = "wrong"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# config-pin-tests = ["local rank"]
# ///

# %% role="answer" id="make-run-config"
def make_run_config(folder):
    """Return this rank's RunConfig: its GPU, and on rank 0 the folder for checkpoints and summaries."""
    session_config = tf.compat.v1.ConfigProto()
    session_config.gpu_options.visible_device_list = str(hvd.rank())
    session_config.gpu_options.allow_growth = True
    writing = {"model_dir": folder, "save_checkpoints_steps": 100}
    silent = {"save_checkpoints_steps": None, "save_checkpoints_secs": None, "save_summary_steps": None}
    files = writing if hvd.rank() == 0 else silent
    return tf.estimator.RunConfig(session_config=session_config, tf_random_seed=seed, **files)
