# /// answer
# title = "Rank 0 evaluates all pictures alone, the others return nothing"
# ///

# %% role="answer" id="evaluate"
def evaluate(estimator, files, params):
    if hvd.rank() != 0:
        return None
    return estimator.evaluate(lambda: input_fn(files, training=False, worker=0, num_workers=1, params=params))
