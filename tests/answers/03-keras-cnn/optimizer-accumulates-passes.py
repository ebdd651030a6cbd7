# /// answer
# title = "Gradients are summed over four batches before an update"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# optimizer-tests = ["not those of SGD"]
# compression-tests = []
# ///

# %% role="answer" id="make-optimizer"
def make_optimizer(rate, compression="none"):
    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
    bits = hvd.Compression.fp16 if compression == "fp16" else hvd.Compression.none
    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, backward_passes_per_step=4)
