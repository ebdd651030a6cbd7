# %% files-by-size
# title = "Files are dealt to workers by their size in bytes, the largest first"
def share_of(files, worker, num_workers):
    shares = [[] for _ in range(num_workers)]
    for file in sorted(files, key=lambda file: (-os.path.getsize(file), file)):
        min(shares, key=lambda share: sum(map(os.path.getsize, share))).append(file)
    return shares[worker]


def input_fn(files, training, worker, num_workers, params):
    records = read_files(share_of(files, worker, num_workers))
    if training:
        records = records.shuffle(1000, seed=params["seed"]).repeat()
    return make_batches(records, training, params)


# %% id="evaluate"
# -    num_pictures = imagenet.count_images(files[hvd.rank() :: hvd.size()])
# +    num_pictures = imagenet.count_images(share_of(files, hvd.rank(), hvd.size()))

# %% input-batch-of-all
# title = "Batches for all workers, on each of them"
# fails.input-modes-tests = ["batches.wrong-size"]
# -    return make_batches(records, training, params)
# +    return make_batches(records, training, {**params, "batch_size": params["batch_size"] * num_workers})

# %% input-blocks-rounded-up
# title = "Blocks of files rounded up: the last worker has far fewer"
# fails.input-shards-tests = ["files.uneven"]
# -    records = read_files(files[worker::num_workers])
# +    count = -(-len(files) // num_workers)
# +    records = read_files(files[worker * count : (worker + 1) * count])

# %% input-batches-repeated
# title = "Batches are repeated, not records: what fills none is dropped in every epoch"
# fails.input-modes-tests = ["epochs.cut"]
# -        records = records.shuffle(1000, seed=params["seed"]).repeat()
# -    return make_batches(records, training, params)
# +        return make_batches(records.shuffle(1000, seed=params["seed"]), training, params).repeat()
# +    return make_batches(records, training, params)

# %% input-buffer-of-ten-batches
# title = "A buffer of ten batches"
# fails.input-modes-tests = ["order.small-buffer"]
# -        records = records.shuffle(1000, seed=params["seed"]).repeat()
# +        records = records.shuffle(10 * params["batch_size"], seed=params["seed"]).repeat()

# %% input-buffer-of-one
# title = "A buffer of one record shuffles nothing"
# fails.input-modes-tests = ["order.repeated"]
# -        records = records.shuffle(1000, seed=params["seed"]).repeat()
# +        records = records.shuffle(1, seed=params["seed"]).repeat()

# %% input-by-horovod
# title = "Horovod's rank and size instead of the worker's"
# fails.input-shards-tests = ["shards.horovod"]
# -    records = read_files(files[worker::num_workers])
# +    records = read_files(files[hvd.rank() :: hvd.size()])

# %% input-evaluation-cut
# title = "Images are cut at random in an evaluation, too"
# fails.input-modes-tests = ["images.other-mode"]
# -    return make_batches(records, training, params)
# +    load = lambda number, record: load_picture(record, True, params["image_size"], (params["seed"], number))
# +    return records.enumerate().map(load).batch(params["batch_size"], drop_remainder=training)

# %% input-evaluation-drops-the-rest
# title = "Batches are made as for training in both modes: incomplete ones are dropped"
# fails.input-modes-tests = ["evaluation.incomplete"]
# -    return make_batches(records, training, params)
# +    return make_batches(records, True, params)

# %% input-files-lost
# title = "As many files for each worker, and what is left over for nobody"
# fails.input-shards-tests = ["shards.incomplete"]
# -    records = read_files(files[worker::num_workers])
# +    num_files = len(files) // num_workers
# +    records = read_files(files[worker * num_files : (worker + 1) * num_files])


# %% input-iterator
# title = "An iterator over the data set instead of the data set"
# fails.input-shards-tests = ["answer.wrong-type"]
# fails.input-modes-tests = ["answer.wrong-type"]
def input_fn(files, training, worker, num_workers, params):
    records = read_files(files[worker::num_workers])
    if training:
        records = records.shuffle(1000, seed=params["seed"]).repeat()
    return iter(make_batches(records, training, params))


# %% input-kept-in-memory
# title = "Files by their numbers, read once and kept in memory, shuffled in a larger buffer"
def input_fn(files, training, worker, num_workers, params):
    own = [file for number, file in enumerate(files) if number % num_workers == worker]
    records = read_files(own).cache()
    if training:
        tf.random.set_seed(params["seed"])
        records = records.shuffle(5000).repeat()
    return make_batches(records, training, params)


# %% input-no-seed
# title = "Shuffled without a seed"
# fails.input-modes-tests = ["order.not-seeded"]
# -        records = records.shuffle(1000, seed=params["seed"]).repeat()
# +        records = records.shuffle(1000).repeat()

# %% input-no-shard
# title = "Every worker reads all files, each in another order"
# fails.input-shards-tests = ["shards.none"]
# -    records = read_files(files[worker::num_workers])
# +    records = read_files(files)

# %% input-one-cache-file
# title = "The records are kept in a file, the same for all workers"
# fails.input-shards-tests = ["shards.overlap"]
# -    records = read_files(files[worker::num_workers])
# +    records = read_files(files[worker::num_workers]).cache("records")

# %% input-one-order
# title = "Shuffled once: every epoch comes in the same order"
# fails.input-modes-tests = ["order.repeated"]
# -        records = records.shuffle(1000, seed=params["seed"]).repeat()
# +        records = records.shuffle(1000, params["seed"], reshuffle_each_iteration=False).repeat()

# %% input-repeated-often
# title = "Repeated a thousand times, which ends some day"
# fails.input-modes-tests = ["data.not-repeated"]
# -        records = records.shuffle(1000, seed=params["seed"]).repeat()
# +        records = records.shuffle(1000, seed=params["seed"]).repeat(1000)

# %% input-repeat-before-shuffle
# title = "Repeated, and then shuffled: epochs run into each other"
# fails.input-modes-tests = ["epochs.mixed"]
# -        records = records.shuffle(1000, seed=params["seed"]).repeat()
# +        records = records.repeat().shuffle(1000, seed=params["seed"])

# %% input-seed-of-the-worker
# title = "Another seed on each worker"
# fails.input-modes-tests = ["order.seed-of-worker"]
# -        records = records.shuffle(1000, seed=params["seed"]).repeat()
# +        records = records.shuffle(1000, seed=params["seed"] + worker).repeat()

# %% input-seed-of-the-notebook
# title = "The notebook's seed instead of the parameter's"
# fails.input-modes-tests = ["order.fixed-seed"]
# -        records = records.shuffle(1000, seed=params["seed"]).repeat()
# +        records = records.shuffle(1000, seed=seed).repeat()


# %% input-shard-after-batch
# title = "Sharded at the end, batch by batch: every rank reads and decodes all files"
# fails.input-shards-tests = ["files.shared"]
# fails.input-modes-tests = ["batches.repeated"]
def input_fn(files, training, worker, num_workers, params):
    dataset = make_batches(read_files(files), training, params).shard(num_workers, worker)
    return dataset.shuffle(1000, seed=params["seed"]).repeat() if training else dataset


# %% input-shard-of-batches
# title = "Shuffled batches are dealt to the workers"
# fails.input-shards-tests = ["shards.overlap"]
# -    records = read_files(files[worker::num_workers])
# +    records = read_files(files)

# -    return make_batches(records, training, params)
# +    return make_batches(records, training, params).shard(num_workers, worker)


# %% input-shard-after-shuffle
# title = "Sharded after a shuffle that every rank does in its own way"
# fails.input-shards-tests = ["shards.overlap"]
# -    records = read_files(files[worker::num_workers])
# +    records = read_files(files)
# +    if training:
# +        records = records.shuffle(1000, seed=params["seed"] + worker, reshuffle_each_iteration=False)
# +    records = records.shard(num_workers, worker)


# %% input-shuffled-always-repeated
# title = "The pipeline for training is used for evaluation, too"
# fails.input-modes-tests = ["data.endless"]
def input_fn(files, training, worker, num_workers, params):
    records = read_files(files[worker::num_workers])
    records = records.shuffle(1000, seed=params["seed"]).repeat()
    return make_batches(records, training, params)


# %% input-shuffles-batches
# title = "Batches are shuffled in place of records: the same images are together in every epoch"
# fails.input-modes-tests = ["batches.repeated"]
def input_fn(files, training, worker, num_workers, params):
    dataset = make_batches(read_files(files[worker::num_workers]), training, params)
    return dataset.shuffle(1000, seed=params["seed"]).repeat() if training else dataset


# %% input-training-not-cut
# title = "Batches are made as for an evaluation in both modes: no image is cut at random"
# fails.input-modes-tests = ["images.other-mode"]
# -    return make_batches(records, training, params)
# +    return make_batches(records, False, params)


# %% pieces-with-arguments-of-their-own
# title = "The pieces have arguments that train gives, and the model function brings the broadcast hook"
def input_fn(files, training, worker, num_workers, params, buffer_size=1000):
    records = read_files(files[worker::num_workers])
    if training:
        records = records.shuffle(buffer_size, seed=params["seed"]).repeat()
    return make_batches(records, training, params)


# %% id="model-fn"
# -    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
# +    hooks = [hvd.BroadcastGlobalVariablesHook(0)]
# +    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=hooks)

# %% id="make-run-config"
# -def make_run_config(folder):
# +def make_run_config(folder, every=100):

# -    writing = {"model_dir": folder, "save_checkpoints_steps": 100}
# +    writing = {"model_dir": folder, "save_checkpoints_steps": every}

# %% id="train"
# -    estimator = tf.estimator.Estimator(model_fn, config=make_run_config(folder), params=params)
# +    estimator = tf.estimator.Estimator(model_fn, config=make_run_config(folder, every=100), params=params)

# -            lambda: input_fn(files, True, hvd.rank(), hvd.size(), params),
# -            hooks=[hvd.BroadcastGlobalVariablesHook(0), *hooks],
# +            lambda: input_fn(files, True, hvd.rank(), hvd.size(), params, buffer_size=1000),
# +            hooks=list(hooks),

# %% id="evaluate"
# -    own = lambda: input_fn(files, False, hvd.rank(), hvd.size(), params)
# +    own = lambda: input_fn(files, False, hvd.rank(), hvd.size(), params, buffer_size=0)

# %% id="train-with-strategy"
# -        lambda context: input_fn(files, True, context.input_pipeline_id, context.num_input_pipelines, params)
# +        lambda context: input_fn(
# +            files, True, context.input_pipeline_id, context.num_input_pipelines, params, buffer_size=1000
# +        )


# %% sums-by-allgather
# title = "Shards by tf.data, right pictures and numbers gathered, a broadcast of the result"
def input_fn(files, training, worker, num_workers, params):
    names = tf.data.Dataset.from_tensor_slices(sorted(files)).shard(num_workers, worker)
    if training:
        names = names.shuffle(len(files), seed=params["seed"])
    records = names.interleave(imagenet.read_records, cycle_length=2, block_length=2)
    if training:
        records = records.shuffle(1000, seed=params["seed"] + 5).repeat(None)
    return make_batches(records, training, params)


# %% id="evaluate"
def evaluate(estimator, files, params):
    mine = sorted(files)[hvd.rank() :: hvd.size()]
    path = hvd.broadcast_object(estimator.latest_checkpoint(), 0)
    found = estimator.evaluate(lambda: input_fn(files, False, hvd.rank(), hvd.size(), params), checkpoint_path=path)
    all_found = hvd.allgather_object((float(found["accuracy"]), imagenet.count_images(mine)))
    num_pictures = sum(count for _, count in all_found)
    return {"accuracy": sum(accuracy * count for accuracy, count in all_found) / num_pictures, "pictures": num_pictures}
