# /// answer
# title = "The numbers of right answers are averaged as integers, and lose their fractions"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# evaluate-tests = ["accuracy"]
# ///

# %% role="answer" id="evaluate"
def evaluate(network, dataset):
    network.evaluate(dataset, verbose=0)
    result = {}
    for metric in network.metrics:
        total, count = hvd.allreduce(metric.total), hvd.allreduce(tf.cast(metric.count, tf.int32))
        result[metric.name] = float(total / tf.cast(count, tf.float32))
    return result
