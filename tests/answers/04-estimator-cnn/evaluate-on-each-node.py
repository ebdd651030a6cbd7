# /// answer
# title = "The first rank of each node evaluates all pictures"
#
# [fails]
# evaluate-once-tests = ["2 times"]
# ///

# %% role="answer" id="evaluate"
def evaluate(estimator, files, params):
    if hvd.local_rank() != 0:
        return None
    return estimator.evaluate(lambda: input_fn(files, False, 0, 1, params))
