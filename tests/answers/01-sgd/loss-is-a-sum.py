# /// answer
# title = "The errors are added up, not averaged"
#
# [fails]
# loss-tests = ["sum"]
# ///

# %% role="answer" id="loss"
def loss(slope, offset, x, y):
    return np.sum((slope * x + offset - y) ** 2)
