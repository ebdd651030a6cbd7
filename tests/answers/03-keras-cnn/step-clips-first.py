# /// answer
# title = "Each rank clips its gradients before they are averaged"
# verdict = "wrong"
#
# [fails]
# make-step-tests = ["not those of SGD"]
# ///

# %% role="answer" id="make-step"
def make_step(network, optimizer, loss_of):
    @tf.function(autograph=False)
    def step(pictures, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, network(pictures, training=True))
        gradients = [tf.clip_by_value(one, -0.05, 0.05) for one in tape.gradient(loss, network.trainable_variables)]
        gradients = [hvd.allreduce(gradient) for gradient in gradients]
        optimizer.apply_gradients(zip(gradients, network.trainable_variables))
        return loss

    return step
