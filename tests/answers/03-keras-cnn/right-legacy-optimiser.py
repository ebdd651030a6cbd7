# /// answer
# title = "Keras' legacy optimiser, which has no build, and every rank loads the checkpoint itself"
# ///

# %% role="answer" id="make-optimizer"
def make_optimizer(rate, compression="none"):
    optimizer = tf.keras.optimizers.legacy.SGD(learning_rate=rate, momentum=0.9)
    if compression == "fp16":
        return hvd_keras.DistributedOptimizer(optimizer, compression=hvd.Compression.fp16)
    return hvd_keras.DistributedOptimizer(optimizer)


# %% role="answer" id="resume"
def resume(network, folder):
    newest = tf.train.latest_checkpoint(str(folder))  # all nodes see the same file system
    if newest is None:
        return 0
    if hasattr(network.optimizer, "build"):
        network.optimizer.build(network.trainable_variables)
    network.load_weights(newest)
    return int(newest[-3:])
