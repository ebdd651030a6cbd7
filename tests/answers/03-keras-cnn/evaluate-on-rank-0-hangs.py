# /// answer
# title = "Rank 0 alone adds up, and waits for the others for ever"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# evaluate-tests = ["rank 0 failed in a collective"]
# ///

# %% role="answer" id="evaluate"
def evaluate(network, dataset):
    network.evaluate(dataset, verbose=0)
    result = {}
    for metric in network.metrics:
        result[metric.name] = float(metric.result())
        if hvd.rank() == 0:
            total, count = hvd.allreduce(tf.stack([metric.total, metric.count]), op=hvd.Sum).numpy()
            result[metric.name] = float(total / count)
    return result
