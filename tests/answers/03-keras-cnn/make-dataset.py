# %% dataset-blocks-rounded-up
# title = "Blocks of files rounded up: the last rank has far fewer"
# fails.shards-tests = ["files.uneven"]
# consequences = ["order-tests", "train-tests", "continued-tests"]
# -    files = files[hvd.rank() :: hvd.size()]
# +    count = -(-len(files) // hvd.size())
# +    files = files[hvd.rank() * count : (hvd.rank() + 1) * count]

# %% dataset-caches-cuts
# title = "Images are cached once they are loaded: the first epoch's random cuts for ever"
# fails.order-tests = ["images.frozen"]
# consequences = ["train-tests", "continued-tests"]
# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +        dataset = dataset.shuffle(1000, seed=seed)

# -    return dataset.batch(batch_size, drop_remainder=training).prefetch(tf.data.AUTOTUNE)
# +    dataset = dataset.cache()
# +    if training:
# +        dataset = dataset.shuffle(100, seed=seed).repeat()
# +    return dataset.batch(batch_size, drop_remainder=training).prefetch(tf.data.AUTOTUNE)

# %% dataset-drops-files-that-do-not-divide
# title = "Each rank takes as many files, and nobody reads those that are left"
# fails.shards-tests = ["files.unread"]
# consequences = ["train-tests", "continued-tests"]
# -    files = files[hvd.rank() :: hvd.size()]
# +    num_files = len(files) // hvd.size()
# +    files = files[hvd.rank() * num_files : (hvd.rank() + 1) * num_files]

# %% dataset-drops-the-last-of-the-validation
# title = "The rest of the last batch is dropped in validation, too"
# fails.order-tests = ["batches.last-dropped"]
# consequences = ["train-tests", "continued-tests"]
# -    return dataset.batch(batch_size, drop_remainder=training).prefetch(tf.data.AUTOTUNE)
# +    return dataset.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

# %% dataset-files-of-the-notebook
# title = "The notebook's files for training are read, whichever files are given"
# fails.shards-tests = ["images.foreign"]
# fails.order-tests = ["images.foreign"]
# consequences = ["train-tests", "continued-tests"]
# -    files = files[hvd.rank() :: hvd.size()]
# +    files = train_files[hvd.rank() :: hvd.size()]

# %% dataset-files-without-seed
# title = "The records are shuffled with the seed, the files without"
# fails.order-tests = ["order.not-seeded"]
# consequences = ["train-tests", "continued-tests"]
# -        dataset = dataset.shuffle(len(files), seed=seed)
# +        dataset = dataset.shuffle(len(files))

# %% dataset-labels-shuffled-apart
# title = "Pictures and labels are two data sets, each with a shuffle of its own"
# fails.order-tests = ["labels.mismatched"]
# consequences = ["train-tests", "continued-tests"]
def make_dataset(files, batch_size, training, deterministic=True):
    files = files[hvd.rank() :: hvd.size()]
    records = tf.data.Dataset.from_tensor_slices(files).interleave(
        lambda file: imagenet.read_records(file, damaged), cycle_length=4
    )
    pictures = records.map(lambda record: load_picture(record, training)[0], num_parallel_calls=tf.data.AUTOTUNE)
    labels = records.map(lambda record: load_picture(record, training)[1], num_parallel_calls=tf.data.AUTOTUNE)
    if training:
        pictures = pictures.shuffle(100, seed=seed).repeat()
        labels = labels.shuffle(100, seed=seed + 1).repeat()
    dataset = tf.data.Dataset.zip((pictures, labels)).batch(batch_size, drop_remainder=training)
    return dataset.prefetch(tf.data.AUTOTUNE)


# %% dataset-no-repeat
# title = "The training data end after one epoch"
# fails.order-tests = ["data.not-repeated"]
# consequences = ["train-tests", "continued-tests"]
# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +        dataset = dataset.shuffle(1000, seed=seed)

# %% dataset-no-shard
# title = "Every rank reads all files"
# fails.shards-tests = ["shards.none"]
# consequences = ["train-tests", "continued-tests"]
# -    files = files[hvd.rank() :: hvd.size()]

# %% dataset-one-cache-for-all
# title = "All ranks cache their records in one file"
# fails.shards-tests = ["cache.shared"]
# consequences = ["order-tests", "train-tests", "continued-tests"]
#      dataset = dataset.interleave(read, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE, deterministic=deterministic)
# +    dataset = dataset.cache(f"records-{training}")

# %% dataset-repeats-before-shuffling
# title = "Repeated first, and then shuffled: the epochs mix"
# fails.order-tests = ["epochs.mixed"]
# consequences = ["shards-tests", "train-tests", "continued-tests"]
# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +        dataset = dataset.repeat().shuffle(1000, seed=seed)

# %% dataset-repeats-batches
# title = "Full batches are repeated, and each pass drops the rest"
# fails.order-tests = ["epochs.rest-dropped"]
# consequences = ["train-tests", "continued-tests"]
# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +        dataset = dataset.shuffle(1000, seed=seed)

# -    return dataset.batch(batch_size, drop_remainder=training).prefetch(tf.data.AUTOTUNE)
# +    dataset = dataset.batch(batch_size, drop_remainder=training)
# +    return (dataset.repeat() if training else dataset).prefetch(tf.data.AUTOTUNE)

# %% dataset-same-order-every-epoch
# title = "Shuffled once, and then every epoch is the same"
# fails.order-tests = ["order.repeated"]
# consequences = ["train-tests", "continued-tests"]
# -    if training:
# -        dataset = dataset.shuffle(len(files), seed=seed)

# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +        dataset = dataset.shuffle(1000, seed=seed, reshuffle_each_iteration=False).repeat()

# %% dataset-shards-batches
# title = "The batches are sharded: batch first, then shard"
# fails.shards-tests = ["files.shared"]
# consequences = ["train-tests", "continued-tests"]
# -    files = files[hvd.rank() :: hvd.size()]

# -    return dataset.batch(batch_size, drop_remainder=training).prefetch(tf.data.AUTOTUNE)
# +    return dataset.batch(batch_size, drop_remainder=training).shard(hvd.size(), hvd.rank()).prefetch(tf.data.AUTOTUNE)

# %% dataset-shards-by-local-rank
# title = "The local rank takes the shard: right on one node, twice the same on two"
# fails.shards-tests = ["shards.overlap"]
# consequences = ["train-tests"]
# -    files = files[hvd.rank() :: hvd.size()]
# +    files = files[hvd.local_rank() :: hvd.size()]

# %% dataset-shards-by-num-ranks
# title = "The notebook's num_ranks is taken for the world size"
# fails.shards-tests = ["shards.overlap"]
# consequences = ["train-tests", "continued-tests"]
# -    files = files[hvd.rank() :: hvd.size()]
# +    files = files[hvd.rank() % num_ranks :: num_ranks]

# %% dataset-shards-records
# title = "The records are sharded after interleave, so every rank reads all files"
# fails.shards-tests = ["files.shared"]
# consequences = ["train-tests", "continued-tests"]
# -    files = files[hvd.rank() :: hvd.size()]

#      dataset = dataset.interleave(read, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE, deterministic=deterministic)
# +    dataset = dataset.shard(hvd.size(), hvd.rank())

# %% dataset-shuffle-not-assigned
# title = "The records are shuffled, and the shuffled data set is dropped"
# fails.order-tests = ["order.not-shuffled"]
# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +        dataset.shuffle(1000, seed=seed)
# +        dataset = dataset.repeat()


# %% dataset-shuffles-batches
# title = "Batches are shuffled in place of records: the same images are together in every epoch"
# fails.order-tests = ["batches.repeated"]
def make_dataset(files, batch_size, training, deterministic=True):
    """Return this rank's batches of images and labels; without end in training."""
    dataset = tf.data.Dataset.from_tensor_slices(files[hvd.rank() :: hvd.size()])
    dataset = dataset.interleave(lambda file: imagenet.read_records(file, damaged), cycle_length=4)
    dataset = dataset.map(lambda record: load_picture(record, training), num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.batch(batch_size, drop_remainder=training)
    if training:
        dataset = dataset.shuffle(1000, seed=seed).repeat()
    return dataset.prefetch(tf.data.AUTOTUNE)


# %% dataset-shuffles-files-only
# title = "The files are shuffled, the records are not"
# fails.order-tests = ["order.not-shuffled"]
# consequences = ["train-tests", "continued-tests"]
# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +        dataset = dataset.repeat()

# %% dataset-shuffles-then-shards
# title = "The files are shuffled, with the same seed everywhere, and then sharded: other files in every epoch"
# fails.shards-tests = ["shards.changing"]
# consequences = ["train-tests", "continued-tests"]
# -    files = files[hvd.rank() :: hvd.size()]

#          dataset = dataset.shuffle(len(files), seed=seed)
# +    dataset = dataset.shard(hvd.size(), hvd.rank())

# %% dataset-training-never-cut
# title = "load_picture is never told that it is for training"
# fails.order-tests = ["images.other-mode"]
# consequences = ["train-tests", "continued-tests"]
# -    load = lambda record: load_picture(record, training)
# +    load = lambda record: load_picture(record, training=False)

# %% dataset-validation-cut-at-random
# title = "load_picture is always told that it is for training"
# fails.order-tests = ["images.other-mode"]
# consequences = ["train-tests", "continued-tests"]
# -    load = lambda record: load_picture(record, training)
# +    load = lambda record: load_picture(record, True)

# %% dataset-validation-repeated
# title = "The data for validation are repeated as well"
# fails.shards-tests = ["data.endless"]
# consequences = ["train-tests", "continued-tests"]
# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +        dataset = dataset.shuffle(1000, seed=seed)
# +    dataset = dataset.repeat()

# %% dataset-validation-without-shard
# title = "Only the files for training are shared out"
# fails.shards-tests = ["shards.none"]
# consequences = ["train-tests"]
# -    files = files[hvd.rank() :: hvd.size()]
# +    if training:
# +        files = files[hvd.rank() :: hvd.size()]

# %% dataset-always-ordered
# title = "The argument deterministic is not used"
# fails.order-tests = ["order.always-deterministic"]
# consequences = ["train-tests", "continued-tests"]
# -    dataset = dataset.interleave(read, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE, deterministic=deterministic)
# +    dataset = dataset.interleave(read, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE)

# %% dataset-buffer-of-a-batch
# title = "A shuffle in a buffer of a few records"
# fails.order-tests = ["order.small-buffer"]
# consequences = ["train-tests", "continued-tests"]
# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +        dataset = dataset.shuffle(16, seed=seed).repeat()

# %% dataset-damaged-ignored
# title = "Damaged records always end the run"
# fails.order-tests = ["records.not-skipped"]
# consequences = ["train-tests", "continued-tests"]
# -    read = lambda file: imagenet.read_records(file, damaged)
# +    read = lambda file: imagenet.read_records(file)

# %% dataset-file-by-file
# title = "One file is read after the other"
# fails.order-tests = ["files.not-interleaved"]
# consequences = ["train-tests", "continued-tests"]
# -    dataset = dataset.interleave(read, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE, deterministic=deterministic)
# +    dataset = dataset.flat_map(read)

# %% dataset-files-in-order
# title = "The files come in their order, only the records are shuffled"
# fails.order-tests = ["files.not-shuffled"]
# consequences = ["train-tests", "continued-tests"]
# -        dataset = dataset.shuffle(len(files), seed=seed)
# +        pass

# %% dataset-loads-first
# title = "Images are loaded before the shuffle, whose buffer holds 1000 of them"
# fails.order-tests = ["order.loaded-first"]
# consequences = ["train-tests", "continued-tests"]
# -    if training:
# -        dataset = dataset.shuffle(1000, seed=seed).repeat()

# -    return dataset.batch(batch_size, drop_remainder=training).prefetch(tf.data.AUTOTUNE)
# +    if training:
# +        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +    return dataset.batch(batch_size, drop_remainder=training).prefetch(tf.data.AUTOTUNE)

# %% dataset-no-prefetch
# title = "No batch is made ahead"
# fails.order-tests = ["batches.no-prefetch"]
# consequences = ["train-tests", "continued-tests"]
# -    return dataset.batch(batch_size, drop_remainder=training).prefetch(tf.data.AUTOTUNE)
# +    return dataset.batch(batch_size, drop_remainder=training)

# %% dataset-on-one-core
# title = "One core loads the images"
# fails.order-tests = ["images.one-core"]
# consequences = ["train-tests", "continued-tests"]
# -    dataset = dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE, deterministic=deterministic)
# +    dataset = dataset.map(load)

# %% dataset-shuffles-validation
# title = "Records are shuffled for validation, too"
# fails.order-tests = ["validation.shuffled"]
# consequences = ["train-tests", "continued-tests"]
# -    if training:
# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +    dataset = dataset.shuffle(1000, seed=seed)
# +    if training:
# +        dataset = dataset.repeat()


# %% right-cache-of-each-rank
# title = "A cache of records with the rank in its name, files in blocks, options in place of arguments"
def make_dataset(files, batch_size, training, deterministic=True):
    blocks = np.array_split(np.array([str(file) for file in files]), hvd.size())
    mine = [str(file) for file in blocks[hvd.rank()]]
    dataset = tf.data.Dataset.from_tensor_slices(mine)
    dataset = dataset.shuffle(len(mine), seed=3) if training else dataset
    dataset = dataset.interleave(lambda file: imagenet.read_records(file, damaged), cycle_length=4, block_length=3)
    dataset = dataset.cache(str(Path(tempfile.mkdtemp()) / f"rank-{hvd.rank()}"))
    if training:
        dataset = dataset.shuffle(1000, seed=seed).repeat()
    dataset = dataset.map(lambda record: load_picture(record, training), num_parallel_calls=4)
    options = tf.data.Options()
    options.deterministic = deterministic
    return dataset.batch(batch_size, drop_remainder=training).prefetch(2).with_options(options)


# %% right-file-names-from-rank-0
# title = "Rank 0 sends the names of the files, which NumPy shuffles, and hvd is initialised once more"
def make_dataset(files, batch_size, training, deterministic=True):
    hvd.init()
    names = hvd.broadcast_object(sorted(map(str, files)), root_rank=0)
    mine = [name for number, name in enumerate(names) if number % hvd.size() == hvd.size() - 1 - hvd.rank()]
    generator = np.random.default_rng(seed + hvd.rank())
    if training:
        mine = [mine[place] for place in generator.permutation(len(mine))]
    dataset = tf.data.Dataset.from_tensor_slices(mine).interleave(
        lambda file: imagenet.read_records(file, damaged), 4, num_parallel_calls=2, deterministic=deterministic
    )
    if training:
        buffer, first = 2000, int(generator.integers(1000))
        dataset = dataset.shuffle(buffer, seed=first, reshuffle_each_iteration=True).repeat()
    dataset = dataset.map(lambda record: load_picture(record, training), num_parallel_calls=2)
    return dataset.batch(batch_size, drop_remainder=training).prefetch(1)


# %% right-files-by-size
# title = "Files are dealt to ranks by their size in bytes, the largest first"
# -    files = files[hvd.rank() :: hvd.size()]
# +    shares = [[] for _ in range(hvd.size())]
# +    for file in sorted(files, key=lambda file: (-os.path.getsize(file), file)):
# +        min(shares, key=lambda share: sum(map(os.path.getsize, share))).append(file)
# +    files = shares[hvd.rank()]


# %% right-shard-of-file-names
# title = "The file names are sharded as a data set, records are taken apart before they are shuffled"
def make_dataset(files, batch_size, training, deterministic=True):
    names = tf.data.Dataset.from_tensor_slices(tf.constant(files)).shard(num_shards=hvd.size(), index=hvd.rank())
    if training:
        names = names.shuffle(100, seed=7 + hvd.rank())
    read = {"num_parallel_calls": 3, "deterministic": deterministic}
    records = names.interleave(
        lambda name: imagenet.read_records(name, damaged), block_length=2, cycle_length=4, **read
    )
    records = records.enumerate().map(lambda _, record: record)
    if training:
        records = records.shuffle(5000, seed=11 * hvd.rank()).repeat(None)
    pictures = records.map(lambda record: load_picture(record, training=training), tf.data.AUTOTUNE)
    pictures = pictures.batch(batch_size, drop_remainder=training, num_parallel_calls=2)
    return pictures.prefetch(1)


# %% id="load-picture"
def load_picture(record, training):
    encoded, label = imagenet.parse_record(record)
    picture = tf.io.decode_jpeg(encoded, channels=3)
    if training:
        y, x, height, width = tf.unstack(random_window(encoded))
    else:
        y, x, height, width = tf.unstack(central_window(encoded))
    picture = tf.image.crop_to_bounding_box(picture, y, x, height, width)
    picture = tf.image.resize(tf.image.convert_image_dtype(picture, tf.float32), [image_size, image_size])
    if training:
        picture = tf.cond(tf.random.uniform([]) < 0.5, lambda: picture[:, ::-1], lambda: picture)
    return tf.clip_by_value(picture * 2.0 - 1.0, -1.0, 1.0), tf.cast(label, tf.int64)


# %% dataset-blocks-of-a-batch
# title = "Blocks of a whole batch, for fewer jumps on the disk"
# fails.order-tests = ["files.in-blocks"]
# -    dataset = dataset.interleave(read, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE, deterministic=deterministic)
# +    settings = {"num_parallel_calls": tf.data.AUTOTUNE, "deterministic": deterministic}
# +    dataset = dataset.interleave(read, cycle_length=4, block_length=batch_size, **settings)


# %% dataset-shuffles-the-callers-list
# title = "The caller's own list is shuffled in place: the next call shards another order"
# fails.shards-tests = ["files.list-changed"]
# consequences = ["order-tests"]
import random


def make_dataset(files, batch_size, training, deterministic=True):
    if training:
        random.Random(seed).shuffle(files)
    dataset = tf.data.Dataset.from_tensor_slices(files[hvd.rank() :: hvd.size()])
    dataset = dataset.interleave(
        lambda file: imagenet.read_records(file, damaged),
        cycle_length=4,
        num_parallel_calls=tf.data.AUTOTUNE,
        deterministic=deterministic,
    )
    if training:
        dataset = dataset.shuffle(1000, seed=seed).repeat()
    dataset = dataset.map(lambda record: load_picture(record, training), num_parallel_calls=tf.data.AUTOTUNE)
    return dataset.batch(batch_size, drop_remainder=training).prefetch(tf.data.AUTOTUNE)


# %% dataset-two-files-at-a-time
# title = "Two files at a time instead of four"
# fails.order-tests = ["files.other-number"]
# -    dataset = dataset.interleave(read, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE, deterministic=deterministic)
# +    dataset = dataset.interleave(read, cycle_length=2, num_parallel_calls=tf.data.AUTOTUNE, deterministic=deterministic)
