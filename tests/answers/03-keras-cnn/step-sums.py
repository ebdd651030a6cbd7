# /// answer
# title = "The tape sums the gradients of all ranks"
# verdict = "wrong"
#
# [fails]
# make-step-tests = ["summed"]
# ///

# %% role="answer" id="make-step"
def make_step(network, optimizer, loss_of):
    @tf.function(autograph=False)
    def step(pictures, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, network(pictures, training=True))
        gradients = hvd.DistributedGradientTape(tape, op=hvd.Sum).gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables))
        return loss

    return step
