# /// attack
# title = "Raise what the judge itself raises"
# lab = "01-sgd"
# class = "forged results"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"


class Fault(BaseException):
    """The machine failed, not the student."""


class CheckError(Exception):
    pass


def num_updates(num_samples, batch_size, num_epochs):
    raise Fault("the machine failed: another run is needed") if num_samples % 2 else CheckError("passed")
