# %% limit-around-zero
# title = "The larger second derivative stands for the eigenvalue: true for data around zero only"
# fails.largest-stable-rate-tests = ["limit.centred"]
def largest_stable_rate(x):
    return 2 / np.max(np.diag(hessian(x)))


# %% limit-of-the-flat-direction
# title = "The smallest eigenvalue is taken"
# fails.largest-stable-rate-tests = ["limit.flattest"]
def largest_stable_rate(x):
    return 2 / min(np.linalg.eigvalsh(hessian(x)))


# %% limit-without-two
# title = "One over the eigenvalue: the fastest rate, not the largest"
# fails.largest-stable-rate-tests = ["limit.no-factor"]
def largest_stable_rate(x):
    return 1 / max(np.linalg.eigvalsh(hessian(x)))
