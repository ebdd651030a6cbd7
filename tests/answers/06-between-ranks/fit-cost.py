# %% fit-absolute-errors
# title = "Least squares of absolute errors: large messages dominate small ones"
# fails.fit-tests = ["fit.unweighted"]
# -    rows = np.stack([num_steps / seconds, num_bytes / seconds], axis=1)
# -    alpha, beta = np.linalg.lstsq(rows, np.ones(len(seconds)), rcond=None)[0]
# +    rows = np.stack([num_steps, num_bytes], axis=1)
# +    alpha, beta = np.linalg.lstsq(rows, seconds, rcond=None)[0]

# %% fit-bandwidth
# title = "The bandwidth in place of the seconds for each byte"
# fails.fit-tests = ["fit.inverse"]
# -    return alpha, beta
# +    return alpha, 1 / beta

# %% fit-in-microseconds
# title = "The latency in microseconds"
# fails.fit-tests = ["units.million"]
# -    return alpha, beta
# +    return 1e6 * alpha, beta

# %% fit-smallest-and-largest
# title = "Alpha from the smallest message and beta from the largest, as if each were alone"
# fails.fit-tests = ["fit.wrong"]
def fit_cost(num_steps, num_bytes, seconds):
    alpha = (seconds / num_steps)[np.argmin(num_bytes)]
    beta = (seconds / num_bytes)[np.argmin(num_bytes)]
    return alpha, beta


# %% fit-swapped
# title = "Beta first"
# fails.fit-tests = ["fit.swapped"]
# -    return alpha, beta
# +    return beta, alpha


# %% right-fit-by-weights
# title = "Weights for the errors, and the normal equations"
def fit_cost(num_steps, num_bytes, seconds):
    rows = np.array([num_steps, num_bytes]) / seconds
    scale = np.linalg.norm(rows, axis=1)
    rows = rows / scale[:, np.newaxis]
    return tuple(np.linalg.solve(rows @ rows.T, rows.sum(axis=1)) / scale)
