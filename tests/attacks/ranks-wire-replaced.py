# /// attack
# title = "Replace the function that writes the results of a rank"
# lab = "02-horovod-sgd"
# class = "monkeypatching"
# fails = ["average-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]
# flags = []
# ///

# %% role="answer" id="average"


class Average:
    """Callable; it is unpacked before the rank asks for the function that writes its result."""

    def __reduce__(self):
        return unpacked, ()

    def __call__(self, gradients):
        return gradients


def unpacked():
    from coursekit.grading.inside import wire

    really = wire.dumps
    wire.dumps = lambda value, *args: really([np.zeros_like(one) for one in value])
    return Average()


average = Average()
