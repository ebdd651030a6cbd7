# /// attack
# title = "One rank ends, and nobody waits for it"
# lab = "02-horovod-sgd"
# class = "resource"
# fails = ["average-tests"]
# flags = ["ProcessEnded", "process"]
# baseline = "it needs lab 02"
# ///

# %% role="answer" id="average"


def average(gradients):
    import os

    os._exit(0)
