# /// answer
# title = "A momentum of 0.5: the rate is right"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# model-average-tests = ["momentum 0.9"]
# ///

# %% role="changes" id="model-fn"
# -    optimizer = hvd.DistributedOptimizer(tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.9), groups=1)
# +    optimizer = hvd.DistributedOptimizer(tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.5), groups=1)
