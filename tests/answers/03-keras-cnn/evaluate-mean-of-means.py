# /// answer
# title = "The plain mean of the ranks' results"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# evaluate-tests = ["plain mean"]
# ///

# %% role="answer" id="evaluate"
def evaluate(network, dataset):
    result = network.evaluate(dataset, verbose=0, return_dict=True)
    return {name: float(hvd.allreduce(tf.constant(value))) for name, value in sorted(result.items())}
