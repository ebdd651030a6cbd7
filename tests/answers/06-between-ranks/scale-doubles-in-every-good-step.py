# /// answer
# title = "Doubled in every good step"
#
# [fails]
# scale-tests = ["scale and number of good steps"]
# ///

# %% role="changes" id="next-scale"
# -    return scale, num_good + 1
# +    return 2 * scale, num_good + 1
