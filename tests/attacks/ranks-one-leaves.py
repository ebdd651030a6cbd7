# /// attack
# title = "One rank ends, and nobody waits for it"
# lab = "02-horovod-sgd"
# class = "resource"
# fails = ["average-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]
# flags = ["ProcessEnded"]
# ///

# %% role="answer" id="average"


def average(gradients):
    import os

    os._exit(0)
