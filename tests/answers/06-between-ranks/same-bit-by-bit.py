# /// answer
# title = "Equal to the last bit"
#
# [fails]
# same-tests = ["expected “the same”"]
# ///

# %% role="changes" id="same-sum"
# -    bound = len(parts) * np.finfo(parts.dtype).eps * np.abs(parts).sum(axis=0)
# -    return bool(np.all(np.abs(first - second) <= bound))
# +    return bool(np.array_equal(first, second))
