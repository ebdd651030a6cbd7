# /// attack
# title = "Read what is expected from the frame of the check"
# lab = "01-sgd"
# class = "introspection"
# fails = ["num-updates-tests"]
# flags = []
# ///

# %% role="answer" id="num-updates"

import sys


def num_updates(num_samples, batch_size, num_epochs):
    frame = sys._getframe()
    while frame:
        if "expected" in frame.f_locals:
            return frame.f_locals["expected"]
        frame = frame.f_back
    return 0
