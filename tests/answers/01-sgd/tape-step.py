# %% keras-optimiser
# title = "An optimiser does the update, and the batches come from a sort of random keys"
def tape_step(slope, offset, x, y, learning_rate):
    optimizer = tf.keras.optimizers.SGD(learning_rate)
    with tf.GradientTape(persistent=True) as tape:
        value = tf.keras.losses.MeanSquaredError()(y, slope * x + offset)
    variables = [offset, slope]
    optimizer.apply_gradients(zip(tape.gradient(value, variables), variables))
    return float(value)


# %% id="batches"
def batches(x, y, batch_size, rng):
    order = np.argsort(rng.random(len(x)))
    return [(x[part], y[part]) for part in np.split(order, range(batch_size, len(x), batch_size))]


# %% tape-step-loss-afterwards
# title = "The loss after the update is returned"
# fails.tape-step-tests = ["loss.not-before-update"]
# -    return value
# +    return tf.reduce_mean((slope * x + offset - y) ** 2)

# %% tape-step-loss-outside
# title = "Only the prediction is computed under the tape, and from it nothing is asked"
# fails.tape-step-tests = ["tape.no-loss"]
# -        value = tf.reduce_mean((slope * x + offset - y) ** 2)
# +        errors = slope * x + offset - y
# +    value = tf.reduce_mean(errors**2)


# %% tape-step-makes-new-tensors
# title = "The names are bound anew, the variables stay as they were"
# fails.tape-step-tests = ["variables.unchanged"]
def tape_step(slope, offset, x, y, learning_rate):
    with tf.GradientTape() as tape:
        value = tf.reduce_mean((slope * x + offset - y) ** 2)
    gradients = tape.gradient(value, [slope, offset])
    slope = slope - learning_rate * gradients[0]
    offset = offset - learning_rate * gradients[1]
    return value


# %% tape-step-on-the-sum
# title = "The squared errors are added up for the step, and the mean is returned"
# fails.tape-step-tests = ["mean.missing"]
# -        value = tf.reduce_mean((slope * x + offset - y) ** 2)
# +        value = tf.reduce_sum((slope * x + offset - y) ** 2)

# -    return value
# +    return value / len(x)


# %% tape-step-returns-nothing
# title = "The loss is not returned"
# fails.tape-step-tests = ["answer.wrong-type"]
def tape_step(slope, offset, x, y, learning_rate):
    with tf.GradientTape() as tape:
        value = tf.reduce_mean((slope * x + offset - y) ** 2)
    for variable, gradient_ in zip((slope, offset), tape.gradient(value, (slope, offset))):
        variable.assign_sub(learning_rate * gradient_)


# %% tape-step-swapped
# title = "The gradients come in another order than they are asked for"
# fails.tape-step-tests = ["parameters.swapped"]
# -    d_slope, d_offset = tape.gradient(value, [slope, offset])
# +    d_offset, d_slope = tape.gradient(value, [slope, offset])

# %% tape-step-with-numpy
# title = "The NumPy loss of section 2 under the tape"
# fails.tape-step-tests = ["tape.numpy"]
# -        value = tf.reduce_mean((slope * x + offset - y) ** 2)
# +        value = loss(slope, offset, x, y)
