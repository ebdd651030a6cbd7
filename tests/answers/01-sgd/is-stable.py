# %% is-stable-after-ten-steps
# title = "Ten steps: the loss still falls along the flat direction"
# fails.is-stable-tests = ["stability.wrong"]
# -    for _ in range(200):
# +    for _ in range(10):

# %% is-stable-by-turns
# title = "The order of the checks' questions, guessed"
# fails.is-stable-tests = ["stability.wrong"]
calls = []


def is_stable(learning_rate, x, y):
    calls.append(learning_rate)
    return len(calls) % 4 in (1, 2)


# %% is-stable-is-the-loss
# title = "The loss after the steps is returned in place of a verdict"
# fails.is-stable-tests = ["answer.wrong-type"]
# -    return bool(loss(*point, x, y) <= loss(0.5, 0.8, x, y))
# +    return loss(*point, x, y)

# %% is-stable-not-finite-only
# title = "Only an overflow counts as unstable, and 200 steps are too few for one"
# fails.is-stable-tests = ["stability.wrong"]
# -    return bool(loss(*point, x, y) <= loss(0.5, 0.8, x, y))
# +    return bool(np.isfinite(loss(*point, x, y)))


# %% stability-by-growth
# title = "Stability from the growth of the loss, with other starts"
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
