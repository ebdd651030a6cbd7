# /// answer
# title = "The moving averages are never updated"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# model-updates-tests = ["moving averages"]
# ///

# %% role="changes" id="model-fn"
# -    with tf.control_dependencies(network.get_updates_for(features)):
# -        train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
# +    train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
