# /// attack
# title = "Write no file, and say that one was written"
# lab = "02-horovod-sgd"
# class = "forged results"
# fails = ["save-history-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "average-tests", "scale-rate-tests", "max-num-ranks-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]
# flags = []
# ///

# %% role="answer" id="save-history"


def save_history(history, folder):
    import coursekit.drivers.places

    files = {"history.npy": np.array(history)} if hvd.rank() == 0 else {}
    coursekit.drivers.places.left_in = lambda folder: files
