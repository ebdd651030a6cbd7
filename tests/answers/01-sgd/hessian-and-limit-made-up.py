# /// answer
# title = "A limit that fits a Hessian that is made up"
#
# [fails]
# hessian-tests = ["the Hessian: expected"]
# largest-stable-rate-tests = ["the limit: expected"]
# ///

# %% role="answer" id="hessian"
def hessian(x):
    return np.eye(2)


# %% role="answer" id="largest-stable-rate"
def largest_stable_rate(x):
    return 2.0
