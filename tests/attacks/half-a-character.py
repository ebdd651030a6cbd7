# /// attack
# title = "Return half of a surrogate pair, and a huge number"
# lab = "01-sgd"
# class = "evil objects"
# fails = ["num-updates-tests"]
# flags = ["odd text"]
# ///

# %% role="answer" id="num-updates"


def num_updates(num_samples, batch_size, num_epochs):
    raise ValueError("\ud800 " + "9" * 100)
