# /// answer
# title = "Not larger than the bound: a NaN is never larger"
#
# [fails]
# same-tests = ["NaN"]
# ///

# %% role="changes" id="same-sum"
# -    return bool(np.all(np.abs(first - second) <= bound))
# +    return not bool(np.any(np.abs(first - second) > bound))
