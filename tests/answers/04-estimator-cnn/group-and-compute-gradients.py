# /// answer
# title = "Gradients and updates by hand: compute_gradients, apply_gradients, tf.group"
# ///

# %% role="changes" id="model-fn"
# -    optimizer = hvd.DistributedOptimizer(tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.9), groups=1)
# -    with tf.control_dependencies(network.get_updates_for(features)):
# -        train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
# +    optimizer = hvd.DistributedOptimizer(tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.9))
# +    gradients = optimizer.compute_gradients(loss, network.trainable_variables)
# +    train_op = optimizer.apply_gradients(gradients, tf.compat.v1.train.get_or_create_global_step())
# +    train_op = tf.group(train_op, *network.get_updates_for(features))
