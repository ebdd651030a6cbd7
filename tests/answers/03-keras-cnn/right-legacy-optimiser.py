# /// answer
# title = "Keras' legacy optimiser, which has no build, and the number of epochs as the sum over the ranks"
# ///

# %% role="answer" id="make-optimizer"
def make_optimizer(rate, compression="none"):
    optimizer = tf.keras.optimizers.legacy.SGD(learning_rate=rate, momentum=0.9)
    settings = {"groups": num_groups} if num_groups else {}
    if compression == "fp16":
        settings["compression"] = hvd.Compression.fp16
    return hvd_keras.DistributedOptimizer(optimizer, **settings)


# %% role="answer" id="resume"
def resume(network, folder):
    optimizer = network.optimizer
    (optimizer.build if hasattr(optimizer, "build") else optimizer._create_all_weights)(network.trainable_variables)
    newest = tf.train.latest_checkpoint(str(folder)) if hvd.rank() == 0 else None
    if newest:
        network.load_weights(newest)
    hvd.broadcast_variables([*network.variables, *optimizer.variables], root_rank=0)
    return int(hvd.allreduce(tf.constant(int(newest[-3:]) if newest else 0), op=hvd.Sum))
