# /// attack
# title = "Return two million lists"
# lab = "01-sgd"
# class = "resource"
# fails = ["hessian-tests"]
# consequences = ["largest-stable-rate-tests"]
# flags = ["odd result"]
# ///

# %% role="answer" id="hessian"
def hessian(x):
    return [[]] * 2_000_000
