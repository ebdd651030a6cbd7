# /// attack
# title = "Crash the process"
# lab = "01-sgd"
# class = "resource"
# fails = ["num-updates-tests"]
# flags = ["ProcessEnded"]
# ///

# %% role="answer" id="num-updates"

import ctypes


def num_updates(num_samples, batch_size, num_epochs):
    return ctypes.string_at(0)
