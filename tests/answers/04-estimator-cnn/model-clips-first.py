# /// answer
# title = "Each rank clips its gradients before they are averaged"
# consequences = ["model-rate-tests", "train-continued-tests"]
#
# [fails]
# model-average-tests = ["not those of SGD"]
# ///

# %% role="changes" id="model-fn"
# -    optimizer = hvd.DistributedOptimizer(tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.9), groups=1)
# +    optimizer = tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.9)
#      with tf.control_dependencies(network.get_updates_for(features)):
# -        train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
# +        pairs = [
# +            (hvd.allreduce(tf.clip_by_value(gradient, -0.05, 0.05)), variable)
# +            for gradient, variable in optimizer.compute_gradients(loss)
# +        ]
# +        train_op = optimizer.apply_gradients(pairs, tf.compat.v1.train.get_global_step())
