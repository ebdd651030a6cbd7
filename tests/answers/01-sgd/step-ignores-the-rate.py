# /// answer
# title = "The learning rate is that of the notebook, whatever is given"
#
# [fails]
# step-tests = ["learning rate 0 "]
# ///

# %% role="changes" id="step"
# -    return slope - learning_rate * d_slope, offset - learning_rate * d_offset
# +    return slope - 0.5 * d_slope, offset - 0.5 * d_offset
