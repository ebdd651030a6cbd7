# /// answer
# title = "The smallest eigenvalue is taken"
#
# [fails]
# largest-stable-rate-tests = ["flattest"]
# ///

# %% role="answer" id="largest-stable-rate"
def largest_stable_rate(x):
    return 2 / min(np.linalg.eigvalsh(hessian(x)))
