# /// answer
# title = "Wrapped twice: the average of averages is the average, it only costs time"
# ///

# %% role="changes" id="model-fn"
# -    optimizer = hvd.DistributedOptimizer(tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.9), groups=1)
# +    optimizer = hvd.DistributedOptimizer(
# +        hvd.DistributedOptimizer(tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.9))
# +    )
