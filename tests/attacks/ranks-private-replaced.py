# /// attack
# title = "Give every rank the same private value"
# lab = "02-horovod-sgd"
# class = "monkeypatching"
# fails = ["average-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]
# flags = []
# ///

# %% role="answer" id="average"


def average(gradients):
    from coursekit.drivers import places

    value = [np.zeros_like(one) for one in places.private()]
    places.private = lambda: value
    places._places[:] = []
    return value
