# /// answer
# title = "An experiment that takes hours below the function: what the cell defines counts"
# ///

# %% role="answer" id="loss"
power = 2


def loss(slope, offset, x, y):
    return np.mean((slope * x + offset - y) ** power)


# Where does it go down to?
best = min(loss(slope / 1000, 0.0, x, y) for slope in range(10**9))
