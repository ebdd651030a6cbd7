# /// answer
# title = "The mixed derivatives are forgotten"
#
# [fails]
# hessian-tests = ["mixed"]
# ///

# %% role="answer" id="hessian"
def hessian(x):
    return np.diag([2 * np.mean(x**2), 2.0])
