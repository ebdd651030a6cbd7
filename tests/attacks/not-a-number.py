# /// attack
# title = "Return nan, with which every comparison is false"
# lab = "01-sgd"
# class = "evil objects"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"


def num_updates(num_samples, batch_size, num_epochs):
    return float("nan")
