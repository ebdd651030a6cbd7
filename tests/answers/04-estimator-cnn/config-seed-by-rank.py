# /// answer
# title = "Another seed on each rank"
#
# [fails]
# config-files-tests = ["tf_random_seed"]
# ///

# %% role="changes" id="make-run-config"
# -    return tf.estimator.RunConfig(session_config=session_config, tf_random_seed=seed, **files)
# +    return tf.estimator.RunConfig(session_config=session_config, tf_random_seed=seed + hvd.rank(), **files)
