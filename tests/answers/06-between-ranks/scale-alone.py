# /// answer
# title = "Returns the scale alone"
#
# [fails]
# scale-tests = ["number of values that next_scale returns: expected 2"]
# ///

# %% role="changes" id="next-scale"
# -        return scale / 2, 0
# +        return scale / 2
