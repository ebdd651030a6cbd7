# /// answer
# title = "Each rank looks at its own gradients: ranks decide differently"
#
# [fails]
# mean-tests = ["so that all skip the step"]
# ///

# %% role="changes" id="mean-gradients"
# -    means = [hvd.allreduce(tf.cast(one, tf.float32), op=hvd.Average) / scale for one in gradients]
# -    if all(bool(tf.reduce_all(tf.math.is_finite(mean))) for mean in means):
# -        return means
# -    return None
# +    means = [hvd.allreduce(tf.cast(one, tf.float32), op=hvd.Average) / scale for one in gradients]
# +    if all(bool(tf.reduce_all(tf.math.is_finite(one))) for one in gradients):
# +        return means
# +    return None
