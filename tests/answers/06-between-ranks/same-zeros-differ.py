# /// answer
# title = "Less than the bound: two sums that are zero are not the same"
#
# [fails]
# same-tests = ["zero"]
# ///

# %% role="changes" id="same-sum"
# -    return bool(np.all(np.abs(first - second) <= bound))
# +    return bool(np.all(np.abs(first - second) < bound))
