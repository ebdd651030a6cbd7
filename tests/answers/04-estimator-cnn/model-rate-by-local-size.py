# /// answer
# title = "The rate times the ranks of the node: right on one node only"
# verdict = "wrong"
#
# [fails]
# model-rate-tests = ["learning rate"]
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
    optimizer = tf.compat.v1.train.MomentumOptimizer(params["learning_rate"] * hvd.local_size(), momentum=0.9)
    with tf.control_dependencies(network.get_updates_for(features)):
        train_op = hvd.DistributedOptimizer(optimizer, groups=1).minimize(loss, tf.compat.v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
