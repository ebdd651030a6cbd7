# /// answer
# title = "A generator of one's own, seeded anew in every epoch"
# verdict = "wrong"
#
# [fails]
# batches-tests = ["same order"]
# ///

# %% role="answer" id="batches"
def batches(x, y, batch_size, rng):
    order = np.random.default_rng(0).permutation(len(x))
    for first in range(0, len(x), batch_size):
        picked = order[first : first + batch_size]
        yield x[picked], y[picked]
