# /// answer
# title = "Without the magnitude: a sum that is too small always passes"
#
# [fails]
# same-tests = ["expected “not the same”"]
# ///

# %% role="changes" id="same-sum"
# -    return bool(np.all(np.abs(first - second) <= bound))
# +    return bool(np.all(first - second <= bound))
