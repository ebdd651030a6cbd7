# /// answer
# title = "Predictions compared with labels, counted on each rank"
# ///

# %% role="answer" id="evaluate"
def evaluate(estimator, files, params):
    checkpoint = hvd.broadcast_object(estimator.latest_checkpoint(), root_rank=0)
    own = lambda: input_fn(files, False, hvd.rank(), hvd.size(), params)
    classes = [answer["classes"] for answer in estimator.predict(own, checkpoint_path=checkpoint)]
    labels = [label for _, labels in own() for label in labels.numpy()]
    found = hvd.allgather_object((int(np.sum(np.equal(classes, labels))), len(labels)))
    num_right, num_pictures = np.sum(found, axis=0)
    return {"accuracy": num_right / num_pictures}
