# /// attack
# title = "Return what looks like a part of the judge"
# lab = "01-sgd"
# class = "evil objects"
# fails = ["num-updates-tests"]
# flags = ["odd result"]
# ///

# %% role="answer" id="num-updates"
from coursekit.drivers.calls import Remote


class Answer(Remote):
    name = "num_updates"


def num_updates(num_samples, batch_size, num_epochs):
    return Answer()
