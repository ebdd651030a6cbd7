# %% evaluate-averages-integers
# title = "The numbers of right answers are averaged as integers, and lose their fractions"
# fails.evaluate-tests = ["metrics.wrong"]
# consequences = ["train-tests", "continued-tests"]
def evaluate(network, dataset):
    network.evaluate(dataset, verbose=0)
    result = {}
    for metric in network.metrics:
        total, count = hvd.allreduce(metric.total), hvd.allreduce(tf.cast(metric.count, tf.int32))
        result[metric.name] = float(total / tf.cast(count, tf.float32))
    return result


# %% evaluate-in-training-mode
# title = "The loop of the validation calls the network in training mode"
# fails.evaluate-tests = ["training-mode.on"]
# consequences = ["train-tests", "continued-tests"]
def evaluate(network, dataset):
    sums = np.zeros(3)
    for pictures, labels in dataset:
        logits = network(pictures, training=True)
        losses = tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)
        right = tf.argmax(logits, axis=1) == tf.cast(labels, tf.int64)
        sums += np.array([np.sum(losses), np.sum(right), len(labels)])
    loss, right, count = hvd.allreduce(tf.constant(sums), op=hvd.Sum).numpy()
    return {"loss": float(loss / count), "accuracy": float(right / count)}


# %% evaluate-mean-of-means
# title = "The plain mean of the ranks' results"
# fails.evaluate-tests = ["metrics.unweighted"]
# consequences = ["train-tests", "continued-tests"]
def evaluate(network, dataset):
    result = network.evaluate(dataset, verbose=0, return_dict=True)
    return {name: float(hvd.allreduce(tf.constant(value))) for name, value in sorted(result.items())}


# %% evaluate-on-rank-0-hangs
# title = "Rank 0 alone adds up, and waits for the others for ever"
# fails.evaluate-tests = ["collective.peer-finished"]
# consequences = ["train-tests", "continued-tests"]
def evaluate(network, dataset):
    network.evaluate(dataset, verbose=0)
    result = {}
    for metric in network.metrics:
        result[metric.name] = float(metric.result())
        if hvd.rank() == 0:
            total, count = hvd.allreduce(tf.stack([metric.total, metric.count]), op=hvd.Sum).numpy()
            result[metric.name] = float(total / count)
    return result


# %% evaluate-own-only
# title = "Every rank returns its own result"
# fails.evaluate-tests = ["metrics.not-averaged"]
# consequences = ["train-tests", "continued-tests"]
def evaluate(network, dataset):
    return network.evaluate(dataset, verbose=0, return_dict=True)


# %% evaluate-tensors
# title = "Tensors are returned, which are no floats"
# fails.evaluate-tests = ["answer.wrong-type"]
# -    sums = hvd.allreduce(sums, op=hvd.Sum).numpy()
# -    return {metric.name: float(total / count) for metric, (total, count) in zip(network.metrics, sums)}
# +    sums = hvd.allreduce(sums, op=hvd.Sum)
# +    return {metric.name: total / count for metric, (total, count) in zip(network.metrics, sums)}

# %% evaluate-with-16-bits
# title = "The sums travel with 16 bits, which cannot count to 3001"
# fails.evaluate-tests = ["metrics.wrong"]
# -    sums = hvd.allreduce(sums, op=hvd.Sum).numpy()
# +    sums = hvd.allreduce(sums, op=hvd.Sum, compression=hvd.Compression.fp16).numpy()

# %% evaluate-whole-batches-only
# title = "The pictures of the last, smaller batch are left out"
# fails.evaluate-tests = ["metrics.wrong"]
# consequences = ["train-tests", "continued-tests"]
# -    network.evaluate(dataset, verbose=0)
# +    network.evaluate(dataset.unbatch().batch(256, drop_remainder=True), verbose=0)


# %% right-averages-of-sums
# title = "Totals and counts are averaged, which leaves their quotient as it is; the tape is wrapped around the other"
def evaluate(network, dataset):
    network.evaluate(dataset, verbose=0)
    return {metric.name: float(hvd.allreduce(metric.total) / hvd.allreduce(metric.count)) for metric in network.metrics}


# %% id="make-step"
def make_step(network, optimizer, loss_of):
    @tf.function
    def step(pictures, labels):
        with hvd.DistributedGradientTape(tf.GradientTape()) as tape:
            loss = loss_of(labels, network(pictures, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, network.trainable_variables), network.trainable_variables))
        return loss

    return step


# %% right-evaluate-by-hand
# title = "A loop of one's own, sums over all ranks, and a manual average in the step"
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


# %% id="make-step"
def make_step(network, optimizer, loss_of):
    weights = network.trainable_weights

    def step(pictures, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, network(pictures, training=True))
        gradients = hvd.grouped_allreduce(tape.gradient(loss, weights), op=hvd.Average)
        optimizer.apply_gradients(list(zip(gradients, weights)))
        return tf.identity(loss)

    return tf.function(step, reduce_retracing=True)


# %% evaluate-numpy-numbers
# title = "NumPy's 32 bits, of which JSON knows nothing"
# fails.evaluate-tests = ["answer.wrong-type"]
# -    return {metric.name: float(total / count) for metric, (total, count) in zip(network.metrics, sums)}
# +    return {metric.name: total / count for metric, (total, count) in zip(network.metrics, sums)}


# %% evaluate-limited-like-training
# title = "The limit for the steps of an epoch also cuts the validation"
# fails.evaluate-tests = ["metrics.wrong"]
# -    network.evaluate(dataset, verbose=0)
# +    network.evaluate(dataset, steps=max_num_steps or None, verbose=0)

# %% evaluate-rounded
# title = "The results are rounded to four digits"
# fails.evaluate-tests = ["metrics.wrong"]
# -    return {metric.name: float(total / count) for metric, (total, count) in zip(network.metrics, sums)}
# +    return {metric.name: round(float(total / count), 4) for metric, (total, count) in zip(network.metrics, sums)}
