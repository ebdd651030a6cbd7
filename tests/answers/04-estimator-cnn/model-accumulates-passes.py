# /// answer
# title = "Four batches are summed before an update, with the rate as before"
# consequences = ["model-rate-tests", "model-modes-tests", "model-updates-tests", "train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# model-average-tests = ["failed: "]
# ///

# %% role="changes" id="model-fn"
# -    optimizer = hvd.DistributedOptimizer(tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.9), groups=1)
# +    optimizer = hvd.DistributedOptimizer(
# +        tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.9), backward_passes_per_step=4
# +    )
