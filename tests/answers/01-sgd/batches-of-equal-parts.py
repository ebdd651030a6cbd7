# /// answer
# title = "As many batches as asked for, but all of about one size"
#
# [fails]
# batches-tests = ["batches of"]
# ///

# %% role="answer" id="batches"
def batches(x, y, batch_size, rng):
    for picked in np.array_split(rng.permutation(len(x)), -(-len(x) // batch_size)):
        yield x[picked], y[picked]
