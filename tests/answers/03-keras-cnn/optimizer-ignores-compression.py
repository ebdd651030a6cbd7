# /// answer
# title = "The argument compression is not used"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# compression-tests = ["32 bits, not 16"]
# ///

# %% role="answer" id="make-optimizer"
def make_optimizer(rate, compression="none"):
    return hvd_keras.DistributedOptimizer(tf.keras.optimizers.SGD(rate, momentum=0.9))
