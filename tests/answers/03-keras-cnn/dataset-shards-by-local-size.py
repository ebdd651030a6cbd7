# /// answer
# title = "Shards as many as the node has ranks"
# verdict = "wrong"
# consequences = ["train-tests"]
#
# [fails]
# shards-tests = ["used by several ranks"]
# ///

# %% role="answer" id="make-dataset"
def make_dataset(files, batch_size, training, deterministic=True):
    files = files[hvd.local_rank() :: hvd.local_size()]
    dataset = tf.data.Dataset.from_tensor_slices(files)
    if training:
        dataset = dataset.shuffle(len(files), seed=seed)
    read = lambda file: imagenet.read_records(file, damaged)
    dataset = dataset.interleave(read, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE, deterministic=deterministic)
    if training:
        dataset = dataset.shuffle(1000, seed=seed).repeat()
    load = lambda record: load_picture(record, training)
    dataset = dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE, deterministic=deterministic)
    return dataset.batch(batch_size, drop_remainder=training).prefetch(tf.data.AUTOTUNE)
