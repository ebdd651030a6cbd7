# /// attack
# title = "Return an array of objects"
# lab = "01-sgd"
# class = "evil objects"
# fails = ["hessian-tests"]
# consequences = ["largest-stable-rate-tests"]
# flags = ["odd result"]
# ///

# %% role="answer" id="hessian"
class One:
    def __float__(self):
        return 1.0

    def __eq__(self, other):
        return True


def hessian(x):
    return np.array([[One(), One()], [One(), One()]], dtype=object)
