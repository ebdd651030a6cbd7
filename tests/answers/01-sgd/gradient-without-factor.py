# /// answer
# title = "The factor 2 of the square is lost"
#
# [fails]
# gradient-tests = ["factor 2"]
# ///

# %% role="answer" id="gradient"
def gradient(slope, offset, x, y):
    error = slope * x + offset - y
    return np.mean(error * x), np.mean(error)
