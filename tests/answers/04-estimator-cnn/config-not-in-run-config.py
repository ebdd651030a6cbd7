# /// answer
# title = "The session configuration is made and left out of the RunConfig"
#
# [fails]
# config-pin-tests = ["see all GPUs"]
# ///

# %% role="changes" id="make-run-config"
# -    return tf.estimator.RunConfig(session_config=session_config, tf_random_seed=seed, **files)
# +    return tf.estimator.RunConfig(tf_random_seed=seed, **files)
