# /// answer
# title = "Whatever is above the largest number of 16 bits, though some of it is rounded down to it"
#
# [fails]
# lost-tests = ["65519"]
# ///

# %% role="answer" id="lost-share"
def lost_share(gradients, scale):
    sizes = np.abs(gradients[gradients != 0] * np.float32(scale))
    return np.mean((sizes <= 2.0**-25) | (sizes > 65504))
