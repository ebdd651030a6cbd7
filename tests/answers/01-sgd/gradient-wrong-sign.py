# /// answer
# title = "The error has the wrong sign, so the gradient points downhill"
#
# [fails]
# gradient-tests = ["sign"]
# ///

# %% role="answer" id="gradient"
def gradient(slope, offset, x, y):
    error = y - (slope * x + offset)
    return np.mean(2 * error * x), np.mean(2 * error)
