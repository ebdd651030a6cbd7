# /// answer
# title = "Each rank evaluates its shard and returns what it found"
#
# [fails]
# evaluate-accuracy-tests = ["one shard alone"]
# ///

# %% role="answer" id="evaluate"
def evaluate(estimator, files, params):
    checkpoint = hvd.broadcast_object(estimator.latest_checkpoint(), root_rank=0)
    own = lambda: input_fn(files, False, hvd.rank(), hvd.size(), params)
    return estimator.evaluate(own, checkpoint_path=checkpoint)
