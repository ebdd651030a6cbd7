# /// answer
# title = "The return stands under the `if`, so that there is no optimiser without compression"
#
# [fails]
# optimizer-tests = ["make_optimizer", "None", "a Keras optimiser"]
# compression-tests = ["make_optimizer"]
# ///

# %% role="answer" id="make-optimizer"
def make_optimizer(rate, compression="none"):
    """Return SGD with momentum 0.9 that averages the gradients over all ranks."""
    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
    if compression == "fp16":
        return hvd_keras.DistributedOptimizer(optimizer, compression=hvd.Compression.fp16, groups=num_groups or None)
