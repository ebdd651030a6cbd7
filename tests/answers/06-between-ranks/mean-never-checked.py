# /// answer
# title = "Never looks for overflows"
#
# [fails]
# mean-tests = ["so that all skip the step"]
# ///

# %% role="changes" id="mean-gradients"
# -    if all(bool(tf.reduce_all(tf.math.is_finite(mean))) for mean in means):
# -        return means
# -    return None
# +    return means
