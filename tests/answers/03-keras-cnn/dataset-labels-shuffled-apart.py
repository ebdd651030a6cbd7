# /// answer
# title = "Pictures and labels are two data sets, each with a shuffle of its own"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# order-tests = ["belong together"]
# ///

# %% role="answer" id="make-dataset"
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
