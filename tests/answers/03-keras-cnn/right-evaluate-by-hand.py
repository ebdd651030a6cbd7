# /// answer
# title = "A loop of one's own, sums over all ranks, and a manual average in the step"
# ///

# %% role="answer" id="evaluate"
def evaluate(network, dataset):
    loss, right, count = 0.0, 0, 0
    for pictures, labels in dataset:
        logits = network.predict_on_batch(pictures)
        losses = tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)
        loss += float(tf.reduce_sum(losses))
        right += int(np.sum(np.argmax(logits, axis=1) == labels.numpy()))
        count += len(labels)
    loss, right, count = (
        float(hvd.allreduce(tf.constant(float(value), tf.float64), op=hvd.Sum)) for value in (loss, right, count)
    )
    return {"accuracy": right / count, "loss": loss / count, "num_pictures": count}


# %% role="answer" id="make-step"
def make_step(network, optimizer, loss_of):
    weights = network.trainable_weights

    def step(pictures, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, network(pictures, training=True))
        gradients = hvd.grouped_allreduce(tape.gradient(loss, weights), op=hvd.Average)
        optimizer.apply_gradients(list(zip(gradients, weights)))
        return tf.identity(loss)

    return tf.function(step, reduce_retracing=True)
