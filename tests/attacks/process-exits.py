# /// attack
# title = "End the process in the middle of a test"
# lab = "01-sgd"
# class = "resource"
# fails = ["num-updates-tests"]
# flags = ["ProcessEnded"]
# ///

# %% role="answer" id="num-updates"

import os


def num_updates(num_samples, batch_size, num_epochs):
    os._exit(0)
