# /// answer
# title = "The offset's gradient is taken after the slope has moved"
#
# [fails]
# step-tests = ["both gradients first"]
# ///

# %% role="answer" id="step"
def step(slope, offset, x, y, learning_rate):
    slope = slope - learning_rate * gradient(slope, offset, x, y)[0]
    offset = offset - learning_rate * gradient(slope, offset, x, y)[1]
    return slope, offset
