# /// answer
# title = "Points as arrays, matrices instead of means"
# ///

# %% role="answer" id="gradient"
def gradient(slope, offset, x, y):
    inputs = np.column_stack([x, np.ones_like(x)])
    return 2 / len(x) * inputs.T @ (inputs @ np.array([slope, offset]) - y)


# %% role="answer" id="step"
def step(slope, offset, x, y, learning_rate):
    return np.array([slope, offset]) - learning_rate * np.asarray(gradient(slope, offset, x, y))


# %% role="answer" id="hessian"
def hessian(x):
    inputs = np.vstack([x, np.ones(len(x))])
    return 2 * inputs @ inputs.T / len(x)


# %% role="answer" id="largest-stable-rate"
def largest_stable_rate(x):
    return 2 / np.linalg.norm(hessian(x), 2)
