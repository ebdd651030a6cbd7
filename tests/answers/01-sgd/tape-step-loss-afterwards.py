# /// answer
# title = "The loss after the update is returned"
#
# [fails]
# tape-step-tests = ["before the update"]
# ///

# %% role="changes" id="tape-step"
# -    return value
# +    return tf.reduce_mean((slope * x + offset - y) ** 2)
