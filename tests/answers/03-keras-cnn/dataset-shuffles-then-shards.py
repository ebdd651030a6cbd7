# /// answer
# title = "The files are shuffled, with the same seed everywhere, and then sharded: other files in every epoch"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# shards-tests = ["disjoint"]
# ///

# %% role="answer" id="make-dataset"
def make_dataset(files, batch_size, training, deterministic=True):
    dataset = tf.data.Dataset.from_tensor_slices(files)
    if training:
        dataset = dataset.shuffle(len(files), seed=seed)
    dataset = dataset.shard(hvd.size(), hvd.rank())
    dataset = dataset.interleave(
        lambda file: imagenet.read_records(file, damaged),
        cycle_length=4,
        num_parallel_calls=tf.data.AUTOTUNE,
        deterministic=deterministic,
    )
    if training:
        dataset = dataset.shuffle(1000, seed=seed).repeat()
    dataset = dataset.map(
        lambda record: load_picture(record, training),
        num_parallel_calls=tf.data.AUTOTUNE,
        deterministic=deterministic,
    )
    dataset = dataset.batch(batch_size, drop_remainder=training)
    return dataset.prefetch(tf.data.AUTOTUNE)
