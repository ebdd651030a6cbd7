# /// answer
# title = "The tape adds up"
# verdict = "wrong"
#
# [fails]
# make-step-tests = ["summed"]
# ///

# %% role="answer" id="make-step"
def make_step(network, optimizer, loss_of):
    @tf.function
    def step(pictures, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, network(pictures, training=True))
        tape = hvd.DistributedGradientTape(tape, op=hvd.Sum)
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables))
        return loss

    return step
