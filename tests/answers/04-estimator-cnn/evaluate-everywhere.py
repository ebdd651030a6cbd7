# /// answer
# title = "Every rank evaluates all pictures"
#
# [fails]
# evaluate-once-tests = ["same work"]
# ///

# %% role="answer" id="evaluate"
def evaluate(estimator, files, params):
    checkpoint = hvd.broadcast_object(estimator.latest_checkpoint(), root_rank=0)
    result = estimator.evaluate(lambda: input_fn(files, False, 0, 1, params), checkpoint_path=checkpoint)
    return {"accuracy": float(result["accuracy"])}
