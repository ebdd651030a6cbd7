# /// answer
# title = "minimize without the global step: training never ends"
#
# [fails]
# model-modes-tests = ["count each once", "expected 8, got 16"]
# ///

# %% role="changes" id="model-fn"
# -        train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
# +        train_op = optimizer.minimize(loss)
