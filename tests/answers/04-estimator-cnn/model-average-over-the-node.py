# /// answer
# title = "The sum of all gradients, divided by the ranks of the node"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# model-rate-tests = ["learning rate"]
# ///

# %% role="changes" id="model-fn"
# -    optimizer = hvd.DistributedOptimizer(tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.9), groups=1)
# +    optimizer = tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.9)

# -        train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
# +        pairs = [
# +            (hvd.allreduce(gradient, op=hvd.Sum) / hvd.local_size(), variable)
# +            for gradient, variable in optimizer.compute_gradients(loss)
# +        ]
# +        train_op = optimizer.apply_gradients(pairs, tf.compat.v1.train.get_global_step())
