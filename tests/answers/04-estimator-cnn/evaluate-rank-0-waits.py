# /// answer
# title = "Rank 0 alone evaluates, with a collective that the others never call"
#
# [fails]
# evaluate-once-tests = ["waits"]
# evaluate-accuracy-tests = []
# ///

# %% role="answer" id="evaluate"
def evaluate(estimator, files, params):
    if hvd.rank() == 0:
        result = estimator.evaluate(lambda: input_fn(files, False, 0, 1, params))
        return {"accuracy": float(hvd.allreduce(tf.constant(result["accuracy"])))}
    import time

    time.sleep(600)  # the others have gone on with something else
    return None
