# /// answer
# title = "Four batches are summed before an update, with the rate as before"
# verdict = "wrong"
# consequences = ["model-rate-tests", "model-modes-tests", "model-updates-tests", "train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# model-average-tests = ["did not end well"]
# ///

# %% role="answer" id="model-fn"
def model_fn(features, labels, mode, params):
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
    optimizer = tf.compat.v1.train.MomentumOptimizer(params["learning_rate"] * hvd.size(), momentum=0.9)
    with tf.control_dependencies(network.get_updates_for(features)):
        train_op = hvd.DistributedOptimizer(optimizer, backward_passes_per_step=4).minimize(
            loss, tf.compat.v1.train.get_global_step()
        )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
