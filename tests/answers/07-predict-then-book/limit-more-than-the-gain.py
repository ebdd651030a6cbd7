# /// answer
# title = "A gain that is hit exactly does not count"
#
# [fails]
# limit-tests = ["doubling still paid there"]
# ///

# %% role="changes" id="strong-limit"
# -        if after < min_gain * before:
# +        if after <= min_gain * before:
