# /// answer
# title = "Looks for infinity and NaN, not for minus infinity"
#
# [fails]
# mean-tests = ["negative infinity"]
# ///

# %% role="changes" id="mean-gradients"
# -    if all(bool(tf.reduce_all(tf.math.is_finite(mean))) for mean in means):
# -        return means
# +    if all(bool(tf.reduce_all(mean < np.inf)) for mean in means):
# +        return means
