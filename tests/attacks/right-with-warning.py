# /// attack
# title = "A right answer that warns"
# lab = "01-sgd"
# class = "right"
# catalogue = ["A26"]
# fails = []
# flags = []
# ///

# %% role="answer" id="num-updates"

import warnings

warnings.warn("this is deprecated")


def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * -(-num_samples // batch_size)
