# /// answer
# title = "Gradients are summed"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# model-rate-tests = ["summed"]
# ///

# %% role="changes" id="model-fn"
# -    optimizer = hvd.DistributedOptimizer(tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.9), groups=1)
# +    optimizer = hvd.DistributedOptimizer(tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.9), op=hvd.Sum)
