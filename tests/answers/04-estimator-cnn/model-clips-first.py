# /// answer
# title = "Each rank clips its gradients before they are averaged"
# verdict = "wrong"
# consequences = ["model-rate-tests", "train-continued-tests"]
#
# [fails]
# model-average-tests = ["not those of SGD"]
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
        pairs = [
            (hvd.allreduce(tf.clip_by_value(gradient, -0.05, 0.05)), variable)
            for gradient, variable in optimizer.compute_gradients(loss)
        ]
        train_op = optimizer.apply_gradients(pairs, tf.compat.v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
