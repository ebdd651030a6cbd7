# /// answer
# title = "A tolerance relative to the sum, however much cancels"
#
# [fails]
# same-tests = ["expected “the same”"]
# ///

# %% role="changes" id="same-sum"
# -    bound = len(parts) * np.finfo(parts.dtype).eps * np.abs(parts).sum(axis=0)
# -    return bool(np.all(np.abs(first - second) <= bound))
# +    return bool(np.allclose(first, second, rtol=1e-6, atol=0))
