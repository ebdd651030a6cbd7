# /// answer
# title = "The batches come in random order, and the samples in them never change"
#
# [fails]
# batches-tests = ["neighbours"]
# ///

# %% role="answer" id="batches"
def batches(x, y, batch_size, rng):
    parts = np.split(np.arange(len(x)), range(batch_size, len(x), batch_size))
    full = parts[: len(x) // batch_size]
    rng.shuffle(full)
    for picked in full + parts[len(full) :]:
        yield x[picked], y[picked]
