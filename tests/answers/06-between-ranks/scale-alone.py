# /// answer
# title = "Returns the scale alone"
#
# [fails]
# scale-tests = ["what next_scale returns", "a pair"]
# ///

# %% role="changes" id="next-scale"
# -        return scale / 2, 0
# +        return scale / 2
