# /// answer
# title = "Wrapped for the averaging, and once more for the compression"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# optimizer-tests = ["wrapped twice"]
# compression-tests = []
# ///

# %% role="answer" id="make-optimizer"
def make_optimizer(rate, compression="none"):
    optimizer = hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(rate, momentum=0.9))
    if compression == "fp16":
        return hvd_keras.DistributedOptimizer(optimizer, compression=hvd.Compression.fp16)
    return hvd_keras.DistributedOptimizer(optimizer)
