# /// answer
# title = "A generator of one's own, seeded anew in every epoch"
#
# [fails]
# batches-tests = ["same order"]
# ///

# %% role="changes" id="batches"
# -    order = rng.permutation(len(x))
# +    order = np.random.default_rng(0).permutation(len(x))
