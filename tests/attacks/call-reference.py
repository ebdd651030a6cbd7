# /// attack
# title = "Call what the check compares with"
# lab = "01-sgd"
# class = "redirection"
# fails = ["hessian-tests"]
# consequences = ["largest-stable-rate-tests"]
# flags = ["grader"]
# ///

# %% role="answer" id="hessian"
def hessian(x):
    from coursekit.checks.linear_math import reference_hessian

    return reference_hessian(x)
