# /// attack
# title = "Return a float that is equal to everything"
# lab = "01-sgd"
# class = "evil objects"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"


class Any(float):
    __hash__ = float.__hash__

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False


def num_updates(num_samples, batch_size, num_epochs):
    return Any(0)
