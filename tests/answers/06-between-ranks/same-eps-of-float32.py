# /// answer
# title = "The precision of float32, whatever the numbers have"
#
# [fails]
# same-tests = ["float64"]
# ///

# %% role="changes" id="same-sum"
# -    bound = len(parts) * np.finfo(parts.dtype).eps * np.abs(parts).sum(axis=0)
# +    bound = len(parts) * np.finfo(np.float32).eps * np.abs(parts).sum(axis=0)
