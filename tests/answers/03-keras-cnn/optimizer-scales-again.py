# /// answer
# title = "The rate is scaled in the optimiser, and in the plan"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# optimizer-tests = ["scaled twice"]
# ///

# %% role="answer" id="make-optimizer"
def make_optimizer(rate, compression="none"):
    optimizer = tf.keras.optimizers.SGD(rate * hvd.size(), momentum=0.9)
    bits = hvd.Compression.fp16 if compression == "fp16" else hvd.Compression.none
    return hvd_keras.DistributedOptimizer(optimizer, compression=bits)
