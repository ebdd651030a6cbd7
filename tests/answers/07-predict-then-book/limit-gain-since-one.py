# /// answer
# title = "Compares with the first number"
#
# [fails]
# limit-tests = ["doubling"]
# ///

# %% role="changes" id="strong-limit"
# -        if after < min_gain * before:
# +        if after < min_gain * images_per_s[0]:
