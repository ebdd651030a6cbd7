# /// answer
# title = "Looks for NaN, and lets infinities pass"
#
# [fails]
# mean-tests = ["an infinity on rank 1"]
# ///

# %% role="changes" id="mean-gradients"
# -    if all(bool(tf.reduce_all(tf.math.is_finite(mean))) for mean in means):
# -        return means
# -    return None
# +    if any(bool(tf.reduce_any(tf.math.is_nan(mean))) for mean in means):
# +        return None
# +    return means
