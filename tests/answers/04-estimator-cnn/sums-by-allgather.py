# /// answer
# title = "Shards by tf.data, right pictures and numbers gathered, a broadcast of the result"
# ///

# %% role="answer" id="input-fn"
def input_fn(files, training, worker, num_workers, params):
    names = tf.data.Dataset.from_tensor_slices(sorted(files)).shard(num_workers, worker)
    if training:
        names = names.shuffle(len(files), seed=params["seed"])
    records = names.interleave(imagenet.read_records, cycle_length=2, block_length=2)
    if training:
        records = records.shuffle(500, seed=params["seed"] + 5).repeat(None)
    return make_batches(records, training, params)


# %% role="answer" id="evaluate"
def evaluate(estimator, files, params):
    mine = sorted(files)[hvd.rank() :: hvd.size()]
    path = hvd.broadcast_object(estimator.latest_checkpoint(), 0)
    found = estimator.evaluate(lambda: input_fn(files, False, hvd.rank(), hvd.size(), params), checkpoint_path=path)
    all_found = hvd.allgather_object((float(found["accuracy"]), imagenet.count_images(mine)))
    num_pictures = sum(count for _, count in all_found)
    return {"accuracy": sum(accuracy * count for accuracy, count in all_found) / num_pictures, "pictures": num_pictures}
