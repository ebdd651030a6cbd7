# /// answer
# title = "The global step is raised by minimize and once more"
#
# [fails]
# model-modes-tests = ["step"]
# ///

# %% role="changes" id="model-fn"
#          train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
# +    train_op = tf.group(train_op, tf.compat.v1.assign_add(tf.compat.v1.train.get_global_step(), 1))
