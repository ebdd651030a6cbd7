# /// answer
# title = "The loss, which takes logits, gets their softmax"
#
# [fails]
# model-average-tests = ["softmax is taken twice"]
# ///

# %% role="changes" id="model-fn"
# -    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
# +    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, tf.nn.softmax(logits))
