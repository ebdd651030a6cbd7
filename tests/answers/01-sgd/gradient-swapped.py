# /// answer
# title = "Offset and slope are in the wrong order"
#
# [fails]
# gradient-tests = ["swapped"]
# ///

# %% role="answer" id="gradient"
def gradient(slope, offset, x, y):
    error = slope * x + offset - y
    return np.mean(2 * error), np.mean(2 * error * x)
