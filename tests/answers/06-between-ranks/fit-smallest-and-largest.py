# /// answer
# title = "Alpha from the smallest message and beta from the largest, as if each were alone"
#
# [fails]
# fit-tests = ["beta in s"]
# ///

# %% role="answer" id="fit-cost"
def fit_cost(num_steps, num_bytes, seconds):
    alpha = (seconds / num_steps)[np.argmin(num_bytes)]
    beta = (seconds / num_bytes)[np.argmin(num_bytes)]
    return alpha, beta
