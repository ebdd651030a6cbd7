# /// answer
# title = "Random samples, some twice, some never"
#
# [fails]
# batches-tests = ["exactly once"]
# ///

# %% role="answer" id="batches"
def batches(x, y, batch_size, rng):
    for first in range(0, len(x), batch_size):
        picked = rng.integers(0, len(x), min(batch_size, len(x) - first))
        yield x[picked], y[picked]
