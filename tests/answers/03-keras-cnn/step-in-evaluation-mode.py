# /// answer
# title = "The network is not told that it trains"
# verdict = "wrong"
#
# [fails]
# make-step-tests = ["training mode"]
# ///

# %% role="answer" id="make-step"
def make_step(network, optimizer, loss_of):
    @tf.function
    def step(pictures, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, network(pictures))
        tape = hvd.DistributedGradientTape(tape)
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables))
        return loss

    return step
