# /// attack
# title = "Raise an exception with 30 MB of text"
# lab = "01-sgd"
# class = "resource"
# fails = ["num-updates-tests"]
# flags = ["odd text"]
# ///

# %% role="answer" id="num-updates"


def num_updates(num_samples, batch_size, num_epochs):
    raise ValueError("x" * 30_000_000)
