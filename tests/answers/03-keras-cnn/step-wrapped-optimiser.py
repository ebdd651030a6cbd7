# /// answer
# title = "A plain tape and the optimiser wrapped for Keras, which averages only in minimize"
# verdict = "wrong"
#
# [fails]
# make-step-tests = ["not averaged"]
# ///

# %% role="answer" id="make-step"
def make_step(network, optimizer, loss_of):
    optimizer = hvd_keras.DistributedOptimizer(optimizer)

    @tf.function
    def step(pictures, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, network(pictures, training=True))
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables))
        return loss

    return step
