# /// attack
# title = "Replace Horovod by a module that averages nothing"
# lab = "02-horovod-sgd"
# class = "monkeypatching"
# fails = ["average-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]
# flags = []
# ///

# %% role="answer" id="average"


def average(gradients):
    hvd.allreduce = lambda value, **kwargs: value
    hvd.size = lambda: 1
    hvd.rank = lambda: 0
    return [hvd.allreduce(gradient) for gradient in gradients]
