# /// answer
# title = "Only the prediction is computed under the tape, and from it nothing is asked"
#
# [fails]
# tape-step-tests = ["inside the `with` block"]
# ///

# %% role="changes" id="tape-step"
# -        value = tf.reduce_mean((slope * x + offset - y) ** 2)
# +        errors = slope * x + offset - y
# +    value = tf.reduce_mean(errors**2)
