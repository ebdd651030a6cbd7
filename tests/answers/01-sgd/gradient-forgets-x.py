# /// answer
# title = "The inner derivative along the slope is forgotten"
#
# [fails]
# gradient-tests = ["inner derivative"]
# ///

# %% role="answer" id="gradient"
def gradient(slope, offset, x, y):
    error = slope * x + offset - y
    return np.mean(2 * error), np.mean(2 * error)
