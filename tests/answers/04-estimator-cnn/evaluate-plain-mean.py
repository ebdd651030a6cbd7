# /// answer
# title = "The mean of the ranks' accuracies"
#
# [fails]
# evaluate-accuracy-tests = ["unequal shards"]
# ///

# %% role="answer" id="evaluate"
def evaluate(estimator, files, params):
    checkpoint = hvd.broadcast_object(estimator.latest_checkpoint(), root_rank=0)
    own = lambda: input_fn(files, False, hvd.rank(), hvd.size(), params)
    accuracy = estimator.evaluate(own, checkpoint_path=checkpoint)["accuracy"]
    return {"accuracy": float(hvd.allreduce(tf.constant(accuracy)))}
