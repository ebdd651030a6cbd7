# /// attack
# title = "Return what looks like a part of the judge"
# lab = "01-sgd"
# class = "evil objects"
# fails = ["num-updates-tests"]
# flags = ["grader", "odd result"]
# ///

# %% role="answer" id="num-updates"


class RemoteAnswer:
    __module__ = "coursekit.checks.on_ranks"
    name = "num_updates"


def num_updates(num_samples, batch_size, num_epochs):
    return RemoteAnswer()
