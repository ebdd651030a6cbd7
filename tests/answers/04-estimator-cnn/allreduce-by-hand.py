# /// answer
# title = "Without the wrapper: each gradient averaged by hvd.allreduce; a loss of one's own; more metrics and predictions"
# ///

# %% role="answer" id="model-fn"
def model_fn(features, labels, mode, params):
    network = params["build"]()
    logits = network(features, training=mode == "train")
    predictions = {"classes": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits)}
    if mode == "infer":
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    metrics = {
        "accuracy": tf.compat.v1.metrics.accuracy(labels, predictions["classes"]),
        "top 5": tf.compat.v1.metrics.mean(tf.cast(tf.math.in_top_k(labels, logits, 5), tf.float32)),
    }
    train_op = None
    if mode == "train":
        optimizer = tf.compat.v1.train.MomentumOptimizer(hvd.size() * params["learning_rate"], 0.9)
        pairs = [(hvd.allreduce(gradient), variable) for gradient, variable in optimizer.compute_gradients(loss)]
        with tf.control_dependencies(network.get_updates_for(features)):
            train_op = optimizer.apply_gradients(pairs, tf.compat.v1.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, predictions=predictions, loss=loss, train_op=train_op, eval_metric_ops=metrics
    )
