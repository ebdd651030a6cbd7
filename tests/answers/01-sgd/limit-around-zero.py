# /// answer
# title = "The larger second derivative stands for the eigenvalue: true for data around zero only"
#
# [fails]
# largest-stable-rate-tests = ["around zero"]
# ///

# %% role="answer" id="largest-stable-rate"
def largest_stable_rate(x):
    return 2 / np.max(np.diag(hessian(x)))
