# /// answer
# title = "The last, smaller batch is dropped"
#
# [fails]
# batches-tests = ["exactly once"]
# ///

# %% role="answer" id="batches"
def batches(x, y, batch_size, rng):
    order = rng.permutation(len(x))
    for number in range(len(x) // batch_size):
        picked = order[number * batch_size : (number + 1) * batch_size]
        yield x[picked], y[picked]
