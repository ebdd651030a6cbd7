# /// answer
# title = "Keras' loss takes the logits for probabilities"
#
# [fails]
# model-average-tests = ["from_logits=True"]
# ///

# %% role="changes" id="model-fn"
# -    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
# +    loss = tf.keras.losses.SparseCategoricalCrossentropy()(labels, logits)
