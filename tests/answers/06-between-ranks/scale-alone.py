# /// answer
# title = "Returns the scale alone"
#
# [fails]
# scale-tests = ["next_scale returned", "a pair"]
# ///

# %% role="changes" id="next-scale"
# -        return scale / 2, 0
# +        return scale / 2
