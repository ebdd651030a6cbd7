# /// answer
# title = "Labels are moved by as many as there are classes of ImageNet: the session's page is told as its cause"
#
# [fails]
# model-modes-tests = ["label value", "outside the valid range", "model_fn"]
# model-average-tests = []
# model-rate-tests = []
# model-updates-tests = []
# ///

# %% role="changes" id="model-fn"
# -    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
# +    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels + 1001, logits)
