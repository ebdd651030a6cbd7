# /// answer
# title = "The sum of the squares is divided by the notebook's number of samples"
#
# [fails]
# loss-tests = ["num_samples of the notebook"]
# ///

# %% role="answer" id="loss"
def loss(slope, offset, x, y):
    return np.sum((slope * x + offset - y) ** 2) / num_samples
