# /// attack
# title = "Call what the check compares with"
# lab = "01-sgd"
# class = "redirection"
# fails = ["hessian-tests"]
# consequences = ["largest-stable-rate-tests"]
# flags = []
# ///

# %% role="answer" id="hessian"
def hessian(x):
    from coursekit.checks.lab01_linear import reference_hessian

    return reference_hessian(x)
