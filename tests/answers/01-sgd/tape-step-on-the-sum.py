# /// answer
# title = "The squared errors are added up for the step, and the mean is returned"
#
# [fails]
# tape-step-tests = ["summed"]
# ///

# %% role="changes" id="tape-step"
# -        value = tf.reduce_mean((slope * x + offset - y) ** 2)
# +        value = tf.reduce_sum((slope * x + offset - y) ** 2)

# -    return value
# +    return value / len(x)
