# %% fit-absolute-errors
# title = "Least squares of absolute errors: large arrays dominate small ones"
# fails.fit-tests = ["fit.unweighted"]
# -    rows = np.stack([num_steps / seconds, num_steps / num_ranks * sizes / seconds], axis=1)
# -    alpha, beta = np.linalg.lstsq(rows, np.ones(len(seconds)), rcond=None)[0]
# +    rows = np.stack([num_steps * np.ones(len(sizes)), num_steps / num_ranks * sizes], axis=1)
# +    alpha, beta = np.linalg.lstsq(rows, seconds, rcond=None)[0]

# %% fit-bandwidth
# title = "The bandwidth in place of its inverse"
# fails.fit-tests = ["fit.inverse"]
# -    return alpha, beta
# +    return alpha, 1 / beta

# %% fit-steps-forgotten
# title = "One step in place of 2(N - 1)"
# fails.fit-tests = ["fit.of-all-steps"]
# -    num_steps = 2 * (num_ranks - 1)
# +    num_steps = 1

# %% fit-steps-of-two-ranks
# title = "Two steps, as on two ranks"
# fails.fit-tests = ["fit.unweighted"]
# -    num_steps = 2 * (num_ranks - 1)
# +    num_steps = 2

# %% fit-swapped
# title = "Beta first"
# fails.fit-tests = ["fit.swapped"]
# -    return alpha, beta
# +    return beta, alpha

# %% right-fit-by-weights
# title = "Weights of polyfit in place of divided rows"
def fit_link(num_ranks, sizes, seconds):
    slope, offset = np.polyfit(sizes, seconds, 1, w=1 / np.asarray(seconds))
    steps = 2 * (num_ranks - 1)
    return np.array([offset / steps, slope * num_ranks / steps])
