# /// answer
# title = "The root of the mean squared error"
#
# [fails]
# loss-tests = ["root"]
# ///

# %% role="answer" id="loss"
def loss(slope, offset, x, y):
    return np.sqrt(np.mean((slope * x + offset - y) ** 2))
