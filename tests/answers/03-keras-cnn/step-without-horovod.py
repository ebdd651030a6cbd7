# /// answer
# title = "Nothing is averaged in the loop"
# verdict = "wrong"
#
# [fails]
# make-step-tests = ["not averaged"]
# ///

# %% role="answer" id="make-step"
def make_step(network, optimizer, loss_of):
    @tf.function(autograph=False)
    def step(pictures, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, network(pictures, training=True))
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables))
        return loss

    return step
