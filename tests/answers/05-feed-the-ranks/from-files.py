# %% files-by-local-rank
# title = "The share by local rank: right on one node"
# fails.files-tests = ["shards.overlap"]
# -    mine = tf.data.Dataset.from_tensor_slices(files[hvd.rank() :: hvd.size()])
# +    mine = tf.data.Dataset.from_tensor_slices(files[hvd.local_rank() :: hvd.local_size()])

# %% files-cycle-of-one
# title = "interleave with one file at a time"
# fails.interleave-tests = ["files.not-interleaved"]
# -    found = mine.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE)
# +    found = mine.interleave(tf.data.TFRecordDataset, cycle_length=1)

# %% files-drop-the-rest
# title = "The last batch dropped, and its samples in every epoch"
# fails.files-tests = ["shards.incomplete"]
# -    batches = found.batch(batch_size).map(parse_batch, num_parallel_calls=tf.data.AUTOTUNE)
# +    batches = found.batch(batch_size, drop_remainder=True).map(parse_batch)

# %% files-labels-shuffled-apart
# title = "Images and labels shuffled each for itself, and zipped again"
# fails.files-tests = ["labels.mismatched"]
# fails.interleave-tests = ["labels.mismatched"]
# -    return batches.prefetch(tf.data.AUTOTUNE)
# +    images = batches.map(lambda image, label: image).unbatch()
# +    labels = batches.map(lambda image, label: label).unbatch().shuffle(100)
# +    return tf.data.Dataset.zip((images, labels)).batch(batch_size)

# %% files-no-shard
# title = "Every rank reads all files"
# fails.files-tests = ["shards.none"]
# -    mine = tf.data.Dataset.from_tensor_slices(files[hvd.rank() :: hvd.size()])
# +    mine = tf.data.Dataset.from_tensor_slices(files)

# %% files-parsed-before-the-batch
# title = "Parsed before they are batched: images of shape (n, 1, 28, 28)"
# fails.files-tests = ["images.wrong-shape"]
# fails.interleave-tests = ["images.wrong-shape"]
# -    batches = found.batch(batch_size).map(parse_batch, num_parallel_calls=tf.data.AUTOTUNE)
# -    return batches.prefetch(tf.data.AUTOTUNE)
# +    parsed = found.map(lambda record: parse_batch([record]), num_parallel_calls=tf.data.AUTOTUNE)
# +    return parsed.batch(batch_size).prefetch(tf.data.AUTOTUNE)

# %% files-shards-records
# title = "Sharded behind the interleave: every rank reads every file"
# fails.files-tests = ["files.shared"]
# -    mine = tf.data.Dataset.from_tensor_slices(files[hvd.rank() :: hvd.size()])
# -    found = mine.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE)
# +    mine = tf.data.Dataset.from_tensor_slices(files)
# +    found = mine.interleave(tf.data.TFRecordDataset, cycle_length=4).shard(hvd.size(), hvd.rank())

# %% right-files-shuffled
# title = "dataset.shard over the names, files and samples shuffled, read as they come"
def from_files(files, batch_size):
    dataset = tf.data.Dataset.from_tensor_slices(files).shard(hvd.size(), hvd.rank()).shuffle(len(files))
    dataset = dataset.interleave(
        lambda file: tf.data.TFRecordDataset(file), block_length=1, cycle_length=8, deterministic=False
    )
    return dataset.batch(batch_size).map(parse_batch)
