# /// answer
# title = "A fixed tolerance, as np.allclose has it"
#
# [fails]
# same-tests = ["gradients of 4 ranks"]
# ///

# %% role="changes" id="same-sum"
# -    bound = len(parts) * np.finfo(parts.dtype).eps * np.abs(parts).sum(axis=0)
# -    return bool(np.all(np.abs(first - second) <= bound))
# +    return bool(np.allclose(first, second))
