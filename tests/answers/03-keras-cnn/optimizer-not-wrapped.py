# /// answer
# title = "An optimiser as for one process"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# optimizer-tests = ["not averaged"]
# compression-tests = []
# ///

# %% role="answer" id="make-optimizer"
def make_optimizer(rate, compression="none"):
    return tf.keras.optimizers.SGD(rate, momentum=0.9)
