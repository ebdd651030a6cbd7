# /// answer
# title = "The optimiser is not wrapped"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# model-average-tests = ["own gradients"]
# ///

# %% role="changes" id="model-fn"
# -    optimizer = hvd.DistributedOptimizer(tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.9), groups=1)
# +    optimizer = tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.9)
