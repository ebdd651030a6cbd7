# /// answer
# title = "Counting goes on after a doubling"
#
# [fails]
# scale-tests = ["scale and number of good steps"]
# ///

# %% role="changes" id="next-scale"
# -        return 2 * scale, 0
# +        return 2 * scale, growth_steps
