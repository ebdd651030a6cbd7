# /// answer
# title = "The loss is averaged over the ranks, the gradients are not"
# verdict = "wrong"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# model-average-tests = ["own gradients"]
# ///

# %% role="answer" id="model-fn"
def model_fn(features, labels, mode, params):
    """Return what is to be done with a batch in this mode, an EstimatorSpec."""
    training = mode == tf.estimator.ModeKeys.TRAIN
    network = params["build"]()
    logits = network(features, training=training)
    classes = tf.argmax(logits, axis=1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"classes": classes})
    loss = tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.compat.v1.metrics.accuracy(labels, classes)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    rate = params["learning_rate"] * hvd.size()
    optimizer = tf.compat.v1.train.MomentumOptimizer(rate, momentum=0.9)
    average = hvd.allreduce(tf.stop_gradient(loss))
    loss = loss + average - tf.stop_gradient(loss)
    with tf.control_dependencies(network.get_updates_for(features)):
        train_op = optimizer.minimize(loss, tf.compat.v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
