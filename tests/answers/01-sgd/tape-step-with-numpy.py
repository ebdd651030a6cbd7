# /// answer
# title = "The NumPy loss of section 2 under the tape"
#
# [fails]
# tape-step-tests = ["NumPy"]
# ///

# %% role="changes" id="tape-step"
# -        value = tf.reduce_mean((slope * x + offset - y) ** 2)
# +        value = loss(slope, offset, x, y)
