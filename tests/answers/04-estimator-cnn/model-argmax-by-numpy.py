# /// answer
# title = "NumPy's argmax on the logits, tensors of a graph that have no numbers yet"
#
# [fails]
# model-modes-tests = ["NotImplementedError", "symbolic", "tf.", "model_fn"]
# model-average-tests = []
# model-rate-tests = []
# model-updates-tests = []
# ///

# %% role="changes" id="model-fn"
# -    classes = tf.argmax(logits, axis=1)
# +    classes = np.argmax(logits, axis=1)
