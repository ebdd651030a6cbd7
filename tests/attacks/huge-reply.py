# /// attack
# title = "Return an array of 40 MB"
# lab = "01-sgd"
# class = "resource"
# fails = ["hessian-tests"]
# consequences = ["largest-stable-rate-tests"]
# flags = ["odd result"]
# ///

# %% role="answer" id="hessian"
def hessian(x):
    return np.zeros((2, 2_500_000))
