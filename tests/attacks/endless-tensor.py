# /// attack
# title = "Return a tensor whose value is again that tensor"
# lab = "01-sgd"
# class = "evil objects"
# fails = ["num-updates-tests"]
# flags = ["odd result"]
# ///

# %% role="answer" id="num-updates"


class Tensor:
    __module__ = "tensorflow.python"

    def numpy(self):
        return self


def num_updates(num_samples, batch_size, num_epochs):
    return Tensor()
