# /// answer
# title = "One over the eigenvalue: the fastest rate, not the largest"
#
# [fails]
# largest-stable-rate-tests = ["two over it"]
# ///

# %% role="answer" id="largest-stable-rate"
def largest_stable_rate(x):
    return 1 / max(np.linalg.eigvalsh(hessian(x)))
