# /// answer
# title = "The largest difference against the largest bound, not each place against its own"
#
# [fails]
# same-tests = ["many sizes"]
# ///

# %% role="changes" id="same-sum"
# -    return bool(np.all(np.abs(first - second) <= bound))
# +    return bool(np.abs(first - second).max() <= bound.max())
