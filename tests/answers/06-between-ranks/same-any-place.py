# /// answer
# title = "Some place agrees, not every"
#
# [fails]
# same-tests = ["expected “not the same”"]
# ///

# %% role="changes" id="same-sum"
# -    return bool(np.all(np.abs(first - second) <= bound))
# +    return bool(np.any(np.abs(first - second) <= bound))
