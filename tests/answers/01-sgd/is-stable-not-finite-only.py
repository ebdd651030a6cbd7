# /// answer
# title = "Only an overflow counts as unstable, and 200 steps are too few for one"
# verdict = "wrong"
#
# [fails]
# is-stable-tests = ["unstable"]
# ///

# %% role="answer" id="is-stable"
def is_stable(learning_rate, x, y):
    point = (0.5, 0.8)
    for _ in range(200):
        point = step(*point, x, y, learning_rate)
    return bool(np.isfinite(loss(*point, x, y)))
