# %% always-equal
# title = "Return an object that is equal to everything"
# fails = ["loss-tests", "is-stable-tests"]
# flags = ["odd result"]

# %% id="loss"
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


# %% array-subclass
# title = "Return an array whose operations all return true"
# fails = ["hessian-tests"]
# consequences = ["largest-stable-rate-tests"]


# %% id="hessian"
class Fitting(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return np.True_

    def __eq__(self, other):
        return True

    __hash__ = None


def hessian(x):
    return np.eye(2).view(Fitting)


# %% deep-list
# title = "Return lists nested as deeply as the limit allows"
# fails = ["num-updates-tests"]
# flags = ["odd result|OutputError"]
def num_updates(num_samples, batch_size, num_epochs):
    value = 0
    for _ in range(28 + num_samples % 3):
        value = [value]
    return value


# %% endless-tensor
# title = "Return a tensor whose value is the tensor itself"
# fails = ["num-updates-tests"]
# flags = ["odd result"]
class Tensor:
    __module__ = "tensorflow.python"

    def numpy(self):
        return self


def num_updates(num_samples, batch_size, num_epochs):
    return Tensor()


# %% half-a-character
# title = "Raise an error whose text is half a surrogate pair and a huge number"
# fails = ["num-updates-tests"]
# flags = ["odd text"]
def num_updates(num_samples, batch_size, num_epochs):
    raise ValueError("\ud800 " + "9" * 100)


# %% hostile-exception
# title = "Raise an exception that fails when it is converted to text"
# fails = ["num-updates-tests"]
class Odd(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__


def num_updates(num_samples, batch_size, num_epochs):
    raise Odd


# %% not-a-number
# title = "Return nan, for which every comparison is false"
# fails = ["num-updates-tests"]
def num_updates(num_samples, batch_size, num_epochs):
    return float("nan")
