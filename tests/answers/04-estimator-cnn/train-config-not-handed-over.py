# /// answer
# title = "The configuration is made and not handed over, as in 2019; the folder is"
#
# [fails]
# train-config-tests = ["see all GPUs"]
# ///

# %% role="changes" id="train"
# -    estimator = tf.estimator.Estimator(model_fn, config=make_run_config(folder), params=params)
# +    config = make_run_config(folder)
# +    estimator = tf.estimator.Estimator(model_fn, model_dir=config.model_dir if hvd.rank() == 0 else None, params=params)
