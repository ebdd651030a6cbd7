# /// answer
# title = "NumPy's global generator shuffles, the one given is not used"
#
# [fails]
# batches-tests = ["same seed"]
# ///

# %% role="changes" id="batches"
# -    order = rng.permutation(len(x))
# +    order = np.random.permutation(len(x))
