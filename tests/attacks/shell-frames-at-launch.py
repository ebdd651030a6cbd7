# /// attack
# title = "End the process, to be started again while a launch is prepared, and look at what is known then"
# lab = "02-horovod-sgd"
# class = "introspection"
# fails = ["average-tests"]
# flags = ["introspection", "process"]
# baseline = "it needs lab 02"
# ///

# %% role="answer" id="average"

import os
import sys
import threading


def known():
    frame = sys._getframe()
    while frame:
        for value in frame.f_locals.values():
            if isinstance(value, dict) and "inputs" in value:
                return True
        frame = frame.f_back
    return False


KNOWN = known()
if not KNOWN:
    threading.Timer(1.0, lambda: os._exit(0)).start()


def average(gradients):
    return [hvd.allreduce(gradient, op=hvd.Average) for gradient in gradients] if KNOWN else gradients
