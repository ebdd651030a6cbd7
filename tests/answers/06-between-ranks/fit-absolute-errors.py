# /// answer
# title = "Least squares of absolute errors: large messages dominate small ones"
#
# [fails]
# fit-tests = ["dominate the fit"]
# ///

# %% role="changes" id="fit-cost"
# -    rows = np.stack([num_steps / seconds, num_bytes / seconds], axis=1)
# -    alpha, beta = np.linalg.lstsq(rows, np.ones(len(seconds)), rcond=None)[0]
# +    rows = np.stack([num_steps, num_bytes], axis=1)
# +    alpha, beta = np.linalg.lstsq(rows, seconds, rcond=None)[0]
