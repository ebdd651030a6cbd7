# /// answer
# title = "The factor 2 of the square is lost"
#
# [fails]
# hessian-tests = ["factor 2"]
# ///

# %% role="answer" id="hessian"
def hessian(x):
    return np.array([[np.mean(x**2), np.mean(x)], [np.mean(x), 1]])
