# /// answer
# title = "Each rank evaluates what its own model_dir holds, which is nothing except on rank 0"
# verdict = "wrong"
#
# [fails]
# evaluate-once-tests = ["random weights"]
# ///

# %% role="answer" id="evaluate"
def evaluate(estimator, files, params):
    """Return the accuracy over all pictures in the files, as {"accuracy": …}; on rank 0 at least."""
    checkpoint = hvd.broadcast_object(estimator.latest_checkpoint(), root_rank=0)
    own = lambda: input_fn(files, False, hvd.rank(), hvd.size(), params)
    accuracy = estimator.evaluate(own)["accuracy"]
    num_pictures = imagenet.count_images(files[hvd.rank() :: hvd.size()])
    num_right, num_pictures = hvd.allreduce(tf.constant([accuracy * num_pictures, num_pictures]), op=hvd.Sum)
    return {"accuracy": float(num_right / num_pictures)}
