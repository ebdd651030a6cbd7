# /// answer
# title = "A verdict as soon as it is certain, of NumPy's kind, and random samples taken out of a list of numbers"
# ///

# %% role="answer" id="batches"
def batches(x, y, batch_size, rng):
    left = list(range(len(x)))
    while left:
        picked = [left.pop(rng.integers(len(left))) for _ in range(min(batch_size, len(left)))]
        yield [x[i] for i in picked], [y[i] for i in picked]


# %% role="answer" id="is-stable"
def is_stable(learning_rate, x, y):
    start = loss(0.5, 0.8, x, y)
    m, b = 0.5, 0.8
    for _ in range(200):
        m, b = step(m, b, x, y, learning_rate)
        if loss(m, b, x, y) > 1e6 * start:
            return np.bool_(False)
    return np.less(loss(m, b, x, y), start)
