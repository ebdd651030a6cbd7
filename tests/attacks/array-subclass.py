# /// attack
# title = "Return an array whose operations always fit"
# lab = "01-sgd"
# class = "evil objects"
# fails = ["hessian-tests"]
# consequences = ["largest-stable-rate-tests"]
# flags = []
# ///

# %% role="answer" id="hessian"
class Fitting(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return np.True_

    def __eq__(self, other):
        return True

    __hash__ = None


def hessian(x):
    return np.eye(2).view(Fitting)
