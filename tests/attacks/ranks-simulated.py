# /// attack
# title = "Simulate the other ranks without talking to them"
# lab = "02-horovod-sgd"
# class = "redirection"
# fails = ["average-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]
# flags = []
# ///

# %% role="answer" id="average"


def average(gradients):
    import gc

    others = [one for one in gc.get_objects() if isinstance(one, list) and len(one) == len(gradients)]
    same = [one for one in others if all(np.shape(a) == np.shape(b) for a, b in zip(one, gradients))]
    return [sum(np.asarray(one[i]) for one in same) / max(len(same), 1) for i in range(len(gradients))]
