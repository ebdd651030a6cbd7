# %% rate-by-local-size
# title = "The ranks of one node are counted, not all"
# fails.scale-rate-tests = ["rate.wrong"]
# fails.horovod-rate-tests = ["rate.uneven"]
# fails.horovod-serial-tests = []
# fails.keras-rate-tests = ["rate.uneven"]
def scale_rate(learning_rate):
    return learning_rate * hvd.local_size()


# %% rate-by-rank
# title = "The rate is multiplied by the rank, so rank 0 stands still"
# fails.scale-rate-tests = ["rate.uneven"]
# fails.horovod-rate-tests = ["rate.uneven"]
# fails.horovod-serial-tests = []
# fails.keras-rate-tests = ["rate.uneven"]
def scale_rate(learning_rate):
    return learning_rate * hvd.rank()


# %% rate-in-16-bits
# title = "The rate becomes a number of 16 bits"
# fails.scale-rate-tests = ["rate.wrong"]
# consequences = ["horovod-serial-tests", "keras-rate-tests"]
def scale_rate(learning_rate):
    return float(tf.constant(learning_rate, tf.float16)) * hvd.size()


# %% rate-of-eight-ranks
# title = "No more than eight ranks count"
# fails.scale-rate-tests = ["rate.limited"]
# -    return learning_rate * hvd.size()
# +    return learning_rate * min(hvd.size(), 8)


# %% rate-square-root
# title = "The rate grows with the square root of the number of ranks"
# fails.scale-rate-tests = ["rate.wrong"]
# fails.horovod-rate-tests = ["rate.wrong"]
# fails.horovod-serial-tests = []
# fails.keras-rate-tests = ["rate.wrong"]
def scale_rate(learning_rate):
    return learning_rate * hvd.size() ** 0.5


# %% rate-unscaled
# title = "The rate is not scaled"
# fails.scale-rate-tests = ["rate.not-scaled"]
# fails.horovod-rate-tests = ["rate.not-scaled"]
# fails.horovod-serial-tests = []
# fails.keras-rate-tests = ["rate.not-scaled"]
def scale_rate(learning_rate):
    return learning_rate
