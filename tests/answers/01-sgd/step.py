# %% step-ignores-the-rate
# title = "The learning rate is that of the notebook, whatever is given"
# fails.step-tests = ["step.wrong"]
# -    return slope - learning_rate * d_slope, offset - learning_rate * d_offset
# +    return slope - 0.5 * d_slope, offset - 0.5 * d_offset

# %% step-one-after-the-other
# title = "The offset's gradient is taken after the slope has moved"
# fails.step-tests = ["step.one-by-one"]
def step(slope, offset, x, y, learning_rate):
    slope = slope - learning_rate * gradient(slope, offset, x, y)[0]
    offset = offset - learning_rate * gradient(slope, offset, x, y)[1]
    return slope, offset


# %% step-uphill
# title = "The gradient is added"
# fails.step-tests = ["gradient.wrong-sign"]
# -    return slope - learning_rate * d_slope, offset - learning_rate * d_offset
# +    return slope + learning_rate * d_slope, offset + learning_rate * d_offset
