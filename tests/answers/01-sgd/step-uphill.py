# /// answer
# title = "The gradient is added"
#
# [fails]
# step-tests = ["uphill"]
# ///

# %% role="changes" id="step"
# -    return slope - learning_rate * d_slope, offset - learning_rate * d_offset
# +    return slope + learning_rate * d_slope, offset + learning_rate * d_offset
