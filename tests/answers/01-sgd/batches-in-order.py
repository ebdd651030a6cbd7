# /// answer
# title = "The samples are not shuffled"
#
# [fails]
# batches-tests = ["shuffle"]
# ///

# %% role="answer" id="batches"
def batches(x, y, batch_size, rng):
    for first in range(0, len(x), batch_size):
        yield x[first : first + batch_size], y[first : first + batch_size]
