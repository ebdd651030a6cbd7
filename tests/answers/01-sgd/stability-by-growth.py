# /// answer
# title = "Stability from the growth of the loss, with other starts"
# ///

# %% role="answer" id="is-stable"
def is_stable(learning_rate, x, y):
    rng = np.random.default_rng()
    point = tuple(3 + rng.normal(size=2))
    losses = []
    for _ in range(200):
        point = step(*point, x, y, learning_rate)
        losses.append(loss(*point, x, y))
        if losses[-1] > 1e12:
            return False
    return losses[-1] < losses[0]
