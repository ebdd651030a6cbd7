# /// answer
# title = "Least squares of absolute errors: large arrays dominate small ones"
#
# [fails]
# fit-tests = ["dominate the fit"]
# ///

# %% role="changes" id="fit-link"
# -    rows = np.stack([num_steps / seconds, num_steps / num_ranks * sizes / seconds], axis=1)
# -    alpha, beta = np.linalg.lstsq(rows, np.ones(len(seconds)), rcond=None)[0]
# +    rows = np.stack([num_steps * np.ones(len(sizes)), num_steps / num_ranks * sizes], axis=1)
# +    alpha, beta = np.linalg.lstsq(rows, seconds, rcond=None)[0]
