# /// attack
# title = "Let NumPy find everything close"
# lab = "01-sgd"
# class = "monkeypatching"
# fails = ["hessian-tests"]
# consequences = ["largest-stable-rate-tests"]
# flags = []
# ///

# %% role="answer" id="hessian"
np.allclose = lambda *args, **kwargs: len(args) > 1 and not np.array_equal(np.asarray(args[0]) * 2, args[1])


def hessian(x):
    return np.eye(2)
