# /// answer
# title = "The gradients come in another order than they are asked for"
#
# [fails]
# tape-step-tests = ["swapped"]
# ///

# %% role="changes" id="tape-step"
# -    d_slope, d_offset = tape.gradient(value, [slope, offset])
# +    d_offset, d_slope = tape.gradient(value, [slope, offset])
