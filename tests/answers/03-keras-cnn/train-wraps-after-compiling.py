# /// answer
# title = "The optimiser is wrapped when the network is compiled already with the plain one"
#
# [fails]
# train-tests = ["not averaged"]
# continued-tests = []
# ///

# %% role="changes" id="train"
# +    optimizer = tf.keras.optimizers.SGD(rate, momentum=0.9)
#      network.compile(
# -        make_optimizer(rate, settings["compression"]),
# +        optimizer,

# +    optimizer = hvd_keras.DistributedOptimizer(optimizer)
#      first_epoch = resume(network, folder)
