# /// answer
# title = "The mean is forgotten, so the loss is an array"
#
# [fails]
# loss-tests = ["one number"]
# is-stable-tests = []
# ///

# %% role="answer" id="loss"
def loss(slope, offset, x, y):
    return (slope * x + offset - y) ** 2
