# /// answer
# title = "Updates are taken from the old collection, where Keras puts none"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# model-updates-tests = ["moving averages"]
# ///

# %% role="changes" id="model-fn"
# -    with tf.control_dependencies(network.get_updates_for(features)):
# +    with tf.control_dependencies(tf.compat.v1.get_collection(tf.compat.v1.GraphKeys.UPDATE_OPS)):
