# /// attack
# title = "Raise an exception that fails when it is looked at"
# lab = "01-sgd"
# class = "evil objects"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"


class Odd(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__


def num_updates(num_samples, batch_size, num_epochs):
    raise Odd
