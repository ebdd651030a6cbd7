# /// answer
# title = "The share of wrong images as accuracy, not of right ones"
#
# [fails]
# model-modes-tests = ["the accuracy: expected"]
# ///

# %% role="changes" id="model-fn"
# -        metrics = {"accuracy": tf.compat.v1.metrics.accuracy(labels, classes)}
# +        wrong = tf.not_equal(tf.cast(labels, classes.dtype), classes)
# +        metrics = {"accuracy": tf.compat.v1.metrics.mean(tf.cast(wrong, tf.float32))}
