# /// attack
# title = "Leave by sys.exit"
# lab = "01-sgd"
# class = "resource"
# fails = ["num-updates-tests"]
# flags = ["process"]
# ///

# %% role="answer" id="num-updates"

import sys


def num_updates(num_samples, batch_size, num_epochs):
    sys.exit(0)
