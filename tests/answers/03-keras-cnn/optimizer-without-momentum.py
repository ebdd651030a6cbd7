# /// answer
# title = "SGD without momentum"
# verdict = "wrong"
#
# [fails]
# optimizer-tests = ["momentum"]
# compression-tests = []
# train-tests = ["momentum"]
# continued-tests = []
# ///

# %% role="answer" id="make-optimizer"
def make_optimizer(rate, compression="none"):
    bits = hvd.Compression.fp16 if compression == "fp16" else hvd.Compression.none
    return hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(rate), compression=bits)
