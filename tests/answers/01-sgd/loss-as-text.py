# /// answer
# title = "The loss is returned as text, for printing"
#
# [fails]
# loss-tests = ["numbers"]
# is-stable-tests = []
# ///

# %% role="answer" id="loss"
def loss(slope, offset, x, y):
    return f"{np.mean((slope * x + offset - y) ** 2):.3f}"
