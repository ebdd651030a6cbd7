# /// attack
# title = "End the process, to be started again while a launch is prepared, and look at what is known then"
# lab = "02-horovod-sgd"
# class = "introspection"
# fails = ["average-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]
# flags = []
# ///

# %% role="answer" id="average"

import os
import sys


def known():
    frame = sys._getframe()
    while frame:
        for value in frame.f_locals.values():
            if isinstance(value, dict) and "inputs" in value:
                return True
        frame = frame.f_back
    return False


KNOWN = known()


def average(gradients):
    return [hvd.allreduce(gradient, op=hvd.Average) for gradient in gradients] if KNOWN else gradients


# %% after="keras-rate-tests"
# The next process is started when it is needed: for a launch.
if not KNOWN:
    os._exit(0)
