# /// answer
# title = "One epoch after the other, without end"
#
# [fails]
# batches-tests = ["end"]
# ///

# %% role="answer" id="batches"
def batches(x, y, batch_size, rng):
    while True:
        order = rng.permutation(len(x))
        for first in range(0, len(x), batch_size):
            picked = order[first : first + batch_size]
            yield x[picked], y[picked]
