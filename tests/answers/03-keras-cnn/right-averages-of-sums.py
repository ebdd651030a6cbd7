# /// answer
# title = "Totals and counts are averaged, which leaves their quotient as it is; the tape sends 16 bits"
# ///

# %% role="answer" id="evaluate"
def evaluate(network, dataset):
    network.evaluate(dataset, verbose=0)
    return {metric.name: float(hvd.allreduce(metric.total) / hvd.allreduce(metric.count)) for metric in network.metrics}


# %% role="answer" id="make-step"
def make_step(network, optimizer, loss_of):
    @tf.function
    def step(pictures, labels):
        with hvd.DistributedGradientTape(tf.GradientTape(), compression=hvd.Compression.fp16) as tape:
            loss = loss_of(labels, network(pictures, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, network.trainable_variables), network.trainable_variables))
        return loss

    return step
