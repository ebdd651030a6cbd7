# %% evaluate-at-another-size
# title = "Images of the notebook's size, not of the parameter's"
# fails.evaluate-accuracy-tests = ["params.changed"]
# -    own = lambda: input_fn(files, False, hvd.rank(), hvd.size(), params)
# +    own = lambda: input_fn(files, False, hvd.rank(), hvd.size(), {**params, "image_size": image_size})

# %% evaluate-everywhere
# title = "Every rank evaluates all pictures"
# fails.evaluate-once-tests = ["shards.none"]
def evaluate(estimator, files, params):
    checkpoint = hvd.broadcast_object(estimator.latest_checkpoint(), root_rank=0)
    result = estimator.evaluate(lambda: input_fn(files, False, 0, 1, params), checkpoint_path=checkpoint)
    return {"accuracy": float(result["accuracy"])}


# %% evaluate-files-lost
# title = "As many files for each rank, and what is left over for nobody"
# fails.evaluate-once-tests = ["evaluation.incomplete"]
# -    own = lambda: input_fn(files, False, hvd.rank(), hvd.size(), params)
# +    num_files = len(files) // hvd.size()
# +    mine = files[hvd.rank() * num_files : (hvd.rank() + 1) * num_files]
# +    own = lambda: input_fn(mine, False, 0, 1, params)

# -    num_pictures = imagenet.count_images(files[hvd.rank() :: hvd.size()])
# +    num_pictures = imagenet.count_images(mine)


# %% evaluate-from-predictions
# title = "Predictions compared with labels, counted on each rank"
def evaluate(estimator, files, params):
    checkpoint = hvd.broadcast_object(estimator.latest_checkpoint(), root_rank=0)
    own = lambda: input_fn(files, False, hvd.rank(), hvd.size(), params)
    classes = [answer["classes"] for answer in estimator.predict(own, checkpoint_path=checkpoint)]
    labels = [label for _, labels in own() for label in labels.numpy()]
    found = hvd.allgather_object((int(np.sum(np.equal(classes, labels))), len(labels)))
    num_right, num_pictures = np.sum(found, axis=0)
    return {"accuracy": num_right / num_pictures}


# %% evaluate-on-each-node
# title = "The first rank of each node evaluates all pictures"
# fails.evaluate-once-tests = ["samples.repeated"]
def evaluate(estimator, files, params):
    if hvd.local_rank() != 0:
        return None
    return estimator.evaluate(lambda: input_fn(files, False, 0, 1, params))


# %% evaluate-one-shard
# title = "Each rank evaluates its shard and returns what it found"
# fails.evaluate-accuracy-tests = ["metrics.not-averaged"]
def evaluate(estimator, files, params):
    checkpoint = hvd.broadcast_object(estimator.latest_checkpoint(), root_rank=0)
    own = lambda: input_fn(files, False, hvd.rank(), hvd.size(), params)
    return estimator.evaluate(own, checkpoint_path=checkpoint)


# %% evaluate-plain-mean
# title = "The mean of the ranks' accuracies"
# fails.evaluate-accuracy-tests = ["metrics.unweighted"]
def evaluate(estimator, files, params):
    checkpoint = hvd.broadcast_object(estimator.latest_checkpoint(), root_rank=0)
    own = lambda: input_fn(files, False, hvd.rank(), hvd.size(), params)
    accuracy = estimator.evaluate(own, checkpoint_path=checkpoint)["accuracy"]
    return {"accuracy": float(hvd.allreduce(tf.constant(accuracy)))}


# %% evaluate-random-weights
# title = "Each rank evaluates what its own model_dir holds, which is nothing except on rank 0"
# fails.evaluate-once-tests = ["weights.not-restored"]
# -    accuracy = estimator.evaluate(own, checkpoint_path=checkpoint)["accuracy"]
# +    accuracy = estimator.evaluate(own)["accuracy"]


# %% evaluate-rank-0-waits
# title = "Rank 0 alone evaluates, with a collective, and the others wait for its result in another one"
# fails.evaluate-once-tests = ["ranks.deadlock"]
# fails.evaluate-accuracy-tests = []
def evaluate(estimator, files, params):
    if hvd.rank() == 0:
        result = estimator.evaluate(lambda: input_fn(files, False, 0, 1, params))
        return {"accuracy": float(hvd.allreduce(tf.constant(result["accuracy"])))}
    return hvd.broadcast_object(None, root_rank=0)


# %% evaluate-steps-of-whole-batches
# title = "As many steps as there are whole batches: the last images are left out"
# fails.evaluate-once-tests = ["evaluation.incomplete"]
def evaluate(estimator, files, params):
    num_steps = imagenet.count_images(files) // params["batch_size"]
    if hvd.rank() == 0:
        return estimator.evaluate(lambda: input_fn(files, False, 0, 1, params), steps=num_steps)


# %% evaluate-training-data
# title = "The data of a training are evaluated, which never end"
# fails.evaluate-once-tests = ["data.endless"]
# fails.evaluate-accuracy-tests = []
# -    own = lambda: input_fn(files, False, hvd.rank(), hvd.size(), params)
# +    own = lambda: input_fn(files, True, hvd.rank(), hvd.size(), params)

# %% evaluate-whole-batches
# title = "Weighted by the images in whole batches"
# fails.evaluate-accuracy-tests = ["metrics.wrong"]
# -    num_pictures = imagenet.count_images(files[hvd.rank() :: hvd.size()])
# +    num_batches = imagenet.count_images(files[hvd.rank() :: hvd.size()]) // params["batch_size"]
# +    num_pictures = num_batches * params["batch_size"]


# %% rank-0-evaluates-alone
# title = "Rank 0 evaluates all pictures alone, the others know nothing"
def evaluate(estimator, files, params):
    if hvd.rank() != 0:
        return {"accuracy": None}
    return estimator.evaluate(lambda: input_fn(files, training=False, worker=0, num_workers=1, params=params))
