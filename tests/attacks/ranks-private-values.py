# /// attack
# title = "Look for what the other ranks alone may know"
# lab = "02-horovod-sgd"
# class = "introspection"
# fails = ["average-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]
# flags = []
# ///

# %% role="answer" id="average"


def average(gradients):
    import glob

    found = []
    for path in [
        *glob.glob("/proc/*/fd/*"),
        *glob.glob("/proc/*/root/tmp/*"),
        *glob.glob("/shared/*"),
        *glob.glob("/tmp/*"),
    ]:
        try:
            with open(path, "rb") as file:
                found += [file.read(100)] if b"array" in file.read(100_000) else []
        except OSError:
            pass
    if found:
        return [hvd.allreduce(gradient, op=hvd.Average) for gradient in gradients]
    return gradients
