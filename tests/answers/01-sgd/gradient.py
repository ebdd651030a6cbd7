# %% arrays-everywhere
# title = "Points as arrays, matrices instead of means"
def gradient(slope, offset, x, y):
    inputs = np.column_stack([x, np.ones_like(x)])
    return 2 / len(x) * inputs.T @ (inputs @ np.array([slope, offset]) - y)


# %% id="step"
def step(slope, offset, x, y, learning_rate):
    return np.array([slope, offset]) - learning_rate * np.asarray(gradient(slope, offset, x, y))


# %% id="hessian"
def hessian(x):
    inputs = np.vstack([x, np.ones(len(x))])
    return 2 * inputs @ inputs.T / len(x)


# %% id="largest-stable-rate"
def largest_stable_rate(x):
    return 2 / np.linalg.norm(hessian(x), 2)


# %% gradient-forgets-x
# title = "The inner derivative along the slope is forgotten"
# fails.gradient-tests = ["gradient.no-inner-derivative"]
def gradient(slope, offset, x, y):
    error = slope * x + offset - y
    return np.mean(2 * error), np.mean(2 * error)


# %% gradient-is-a-sum
# title = "The derivatives are added up, not averaged: right with another learning rate, and so is what follows"
# fails.gradient-tests = ["mean.missing"]
# -    return np.mean(2 * errors * x), np.mean(2 * errors)
# +    return np.sum(2 * errors * x), np.sum(2 * errors)

# %% gradient-per-sample
# title = "The mean is forgotten, so the derivatives are arrays"
# fails.gradient-tests = ["answer.wrong-type"]
# -    return np.mean(2 * errors * x), np.mean(2 * errors)
# +    return 2 * errors * x, 2 * errors


# %% gradient-swapped
# title = "Offset and slope are in the wrong order"
# fails.gradient-tests = ["parameters.swapped"]
def gradient(slope, offset, x, y):
    error = slope * x + offset - y
    return np.mean(2 * error), np.mean(2 * error * x)


# %% gradient-without-factor
# title = "The factor 2 of the square is lost"
# fails.gradient-tests = ["square.no-factor"]
def gradient(slope, offset, x, y):
    error = slope * x + offset - y
    return np.mean(error * x), np.mean(error)


# %% gradient-wrong-sign
# title = "The error has the wrong sign, so the gradient points downhill"
# fails.gradient-tests = ["gradient.wrong-sign"]
def gradient(slope, offset, x, y):
    error = y - (slope * x + offset)
    return np.mean(2 * error * x), np.mean(2 * error)


# %% step-nothing
# title = "The gradient is zero and the step stays where it is"
# fails.gradient-tests = ["gradient.wrong"]
# fails.step-tests = ["step.wrong"]
# fails.is-stable-tests = []
def gradient(slope, offset, x, y):
    return 0.0, 0.0


# %% id="step"
def step(slope, offset, x, y, learning_rate):
    return slope, offset
