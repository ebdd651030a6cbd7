# /// attack
# title = "Return an object that is equal to everything"
# lab = "01-sgd"
# class = "evil objects"
# fails = ["loss-tests", "is-stable-tests"]
# flags = ["odd result"]
# ///

# %% role="answer" id="loss"
class Always:
    def __eq__(self, other):
        return True

    def __sub__(self, other):
        return 0.0

    def __float__(self):
        return 0.0

    def __array__(self, dtype=None):
        return np.zeros(())

    def __hash__(self):
        return 0


def loss(slope, offset, x, y):
    return Always()
