# /// answer
# title = "Only an overflow counts as unstable, and 200 steps are too few for one"
#
# [fails]
# is-stable-tests = ["unstable"]
# ///

# %% role="changes" id="is-stable"
# -    return bool(loss(*point, x, y) <= loss(0.5, 0.8, x, y))
# +    return bool(np.isfinite(loss(*point, x, y)))
