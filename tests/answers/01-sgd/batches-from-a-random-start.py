# /// answer
# title = "Each epoch begins at a random sample and goes on in the old order"
#
# [fails]
# batches-tests = ["neighbours"]
# ///

# %% role="changes" id="batches"
# -    order = rng.permutation(len(x))
# +    order = np.roll(np.arange(len(x)), rng.integers(len(x)))
