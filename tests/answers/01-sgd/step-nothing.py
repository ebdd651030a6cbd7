# /// answer
# title = "The gradient is zero and the step stays where it is"
#
# [fails]
# gradient-tests = ["along the slope"]
# step-tests = ["step leads"]
# is-stable-tests = []
# ///

# %% role="answer" id="gradient"
def gradient(slope, offset, x, y):
    return 0.0, 0.0


# %% role="answer" id="step"
def step(slope, offset, x, y, learning_rate):
    return slope, offset
