# /// answer
# title = "The loop of the validation calls the network in training mode"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# evaluate-tests = ["training mode"]
# ///

# %% role="answer" id="evaluate"
def evaluate(network, dataset):
    sums = np.zeros(3)
    for pictures, labels in dataset:
        logits = network(pictures, training=True)
        losses = tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)
        right = tf.argmax(logits, axis=1) == tf.cast(labels, tf.int64)
        sums += np.array([np.sum(losses), np.sum(right), len(labels)])
    loss, right, count = hvd.allreduce(tf.constant(sums), op=hvd.Sum).numpy()
    return {"loss": float(loss / count), "accuracy": float(right / count)}
