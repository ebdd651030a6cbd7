# /// answer
# title = "The text none counts as true, so the gradients always travel with 16 bits"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# compression-tests = ["16 bits, not 32"]
# ///

# %% role="answer" id="make-optimizer"
def make_optimizer(rate, compression="none"):
    bits = hvd.Compression.fp16 if compression else hvd.Compression.none
    return hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(rate, momentum=0.9), compression=bits)
