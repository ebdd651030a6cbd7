# /// answer
# title = "The compiled function is made anew in every step"
#
# [fails]
# make-step-tests = ["compile it once"]
# ///

# %% role="answer" id="make-step"
def make_step(network, optimizer, loss_of):
    def step(pictures, labels):
        @tf.function
        def compiled():
            with tf.GradientTape() as tape:
                loss = loss_of(labels, network(pictures, training=True))
            tape = hvd.DistributedGradientTape(tape)
            gradients = tape.gradient(loss, network.trainable_variables)
            optimizer.apply_gradients(zip(gradients, network.trainable_variables))
            return loss

        return compiled()

    return step
