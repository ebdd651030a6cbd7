# /// attack
# title = "Call itself for ever, with the limit taken away"
# lab = "01-sgd"
# class = "resource"
# fails = ["num-updates-tests"]
# consequences = ["tape-step-tests"]
# flags = ["ProcessEnded|TimeoutError|memory|broken interpreter"]
# ///

# %% role="answer" id="num-updates"

import sys


def num_updates(num_samples, batch_size, num_epochs):
    sys.setrecursionlimit(10**9)
    return num_updates(num_samples, batch_size, num_epochs) + 1
