# /// answer
# title = "x and y are shuffled apart"
#
# [fails]
# batches-tests = ["belong together"]
# ///

# %% role="answer" id="batches"
def batches(x, y, batch_size, rng):
    x, y = rng.permutation(x), rng.permutation(y)
    for first in range(0, len(x), batch_size):
        yield x[first : first + batch_size], y[first : first + batch_size]
