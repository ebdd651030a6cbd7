# /// answer
# title = "Batches are shuffled in place of records: the same images are together in every epoch"
#
# [fails]
# order-tests = ["together in a batch", "shuffle the records"]
# ///

# %% role="answer" id="make-dataset"
def make_dataset(files, batch_size, training, deterministic=True):
    """Return this rank's batches of images and labels; without end in training."""
    dataset = tf.data.Dataset.from_tensor_slices(files[hvd.rank() :: hvd.size()])
    dataset = dataset.interleave(lambda file: imagenet.read_records(file, damaged), cycle_length=4)
    dataset = dataset.map(lambda record: load_picture(record, training), num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.batch(batch_size, drop_remainder=training)
    if training:
        dataset = dataset.shuffle(1000, seed=seed).repeat()
    return dataset.prefetch(tf.data.AUTOTUNE)
