# /// answer
# title = "The hook is made, and given to nobody"
#
# [fails]
# train-start-tests = ["not broadcast"]
# train-continued-tests = []
# ///

# %% role="changes" id="train"
#      estimator = tf.estimator.Estimator(model_fn, config=make_run_config(folder), params=params)
# +    hook = hvd.BroadcastGlobalVariablesHook(0)

# -            hooks=[hvd.BroadcastGlobalVariablesHook(0), *hooks],
# +            hooks=list(hooks),
