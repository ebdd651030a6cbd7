# /// answer
# title = "An overflow does not begin the counting anew"
#
# [fails]
# scale-tests = ["scale and number of good steps"]
# ///

# %% role="changes" id="next-scale"
# -    if not is_finite:
# -        return scale / 2, 0
# +    if not is_finite:
# +        return scale / 2, num_good
