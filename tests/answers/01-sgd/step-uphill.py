# /// answer
# title = "The gradient is added"
# verdict = "wrong"
#
# [fails]
# step-tests = ["uphill"]
# is-stable-tests = []
# ///

# %% role="answer" id="step"
def step(slope, offset, x, y, learning_rate):
    d_slope, d_offset = gradient(slope, offset, x, y)
    return slope + learning_rate * d_slope, offset + learning_rate * d_offset
