# %% step-adds-a-penalty
# title = "A penalty on large weights, as other recipes have it"
# fails.make-step-tests = ["updates.differ"]
#              loss = loss_of(labels, network(pictures, training=True))
# +            loss += 1e-4 * tf.add_n([tf.nn.l2_loss(weights) for weights in network.trainable_variables])

# %% step-clips-first
# title = "Each rank clips its gradients before they are averaged"
# fails.make-step-tests = ["updates.unexplained"]
# -        tape = hvd.DistributedGradientTape(tape)
# -        gradients = tape.gradient(loss, network.trainable_variables)
# +        gradients = [tf.clip_by_value(one, -0.05, 0.05) for one in tape.gradient(loss, network.trainable_variables)]
# +        gradients = [hvd.allreduce(gradient) for gradient in gradients]

# %% step-in-evaluation-mode
# title = "The network is not told that it trains"
# fails.make-step-tests = ["training-mode.off"]
# -            loss = loss_of(labels, network(pictures, training=True))
# +            loss = loss_of(labels, network(pictures))

# %% step-not-compiled
# title = "The step is Python, which is slow, and not a graph"
# fails.make-step-tests = ["step.not-compiled"]
# -    @tf.function(autograph=False)
#      def step(pictures, labels):

# %% step-sums
# title = "The tape sums the gradients of all ranks"
# fails.make-step-tests = ["rate.scaled-twice"]
# -        tape = hvd.DistributedGradientTape(tape)
# +        tape = hvd.DistributedGradientTape(tape, op=hvd.Sum)

# %% step-traced-every-time
# title = "The compiled function is made anew in every step"
# fails.make-step-tests = ["step.compiled-again"]
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


# %% step-wrapped-optimiser
# title = "A plain tape and the optimiser wrapped for Keras, which averages only in minimize"
# fails.make-step-tests = ["gradients.not-averaged"]
# +    optimizer = hvd_keras.DistributedOptimizer(optimizer)
# +
#      @tf.function(autograph=False)

# -        tape = hvd.DistributedGradientTape(tape)


# %% step-averages-weights
# title = "Each rank takes its own step, and then the weights are averaged, but not the momenta"
# fails.make-step-tests = ["momenta.differ"]
def make_step(network, optimizer, loss_of):
    """Return a compiled function that takes one training step on this rank's batch with averaged gradients."""

    @tf.function(autograph=False)
    def step(pictures, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, network(pictures, training=True))
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables))
        for variable in network.trainable_variables:
            variable.assign(hvd.allreduce(variable.read_value(), op=hvd.Average))
        return loss

    return step


# %% step-trains-frozen-layers
# title = "All weights are updated, also those of layers that are not to be trained"
# fails.make-step-tests = ["weights.frozen-changed"]
# -        gradients = tape.gradient(loss, network.trainable_variables)
# -        optimizer.apply_gradients(zip(gradients, network.trainable_variables))
# +        weights = [variable for variable in network.variables if variable.trainable]
# +        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))

# %% step-made-only-once
# title = "The first step that is made serves all networks"
# fails.make-step-tests = ["answer.raised"]
compiled = []  # the function must be created only once


def make_step(network, optimizer, loss_of):
    """Return a compiled function that takes one training step on this rank's batch with averaged gradients."""

    @tf.function(autograph=False)
    def step(pictures, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, network(pictures, training=True))
        tape = hvd.DistributedGradientTape(tape)
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables))
        return loss

    if not compiled:
        compiled.append(step)
    return compiled[0]


# %% step-applies-eagerly
# title = "Only the gradients are compiled, not the update"
# fails.make-step-tests = ["step.not-compiled"]
def make_step(network, optimizer, loss_of):
    """Return a compiled function that takes one training step on this rank's batch with averaged gradients."""

    @tf.function(autograph=False)
    def forward_and_backward(pictures, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, network(pictures, training=True))
        tape = hvd.DistributedGradientTape(tape)
        return loss, tape.gradient(loss, network.trainable_variables)

    def step(pictures, labels):
        loss, gradients = forward_and_backward(pictures, labels)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables))
        return loss

    return step
