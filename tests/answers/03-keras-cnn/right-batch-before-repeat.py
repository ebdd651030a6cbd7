# /// answer
# title = "Batches are repeated, a cache with the rank in its name, files in blocks"
# ///

# %% role="answer" id="make-dataset"
def make_dataset(files, batch_size, training, deterministic=True):
    blocks = np.array_split(np.array([str(file) for file in files]), hvd.size())
    mine = [str(file) for file in blocks[hvd.rank()]]
    dataset = tf.data.Dataset.from_tensor_slices(mine)
    dataset = dataset.flat_map(lambda file: imagenet.read_records(file, damaged))
    dataset = dataset.cache(str(Path(tempfile.mkdtemp()) / f"rank-{hvd.rank()}"))
    if training:
        dataset = dataset.shuffle(1000, seed=seed)
    dataset = dataset.map(lambda record: load_picture(record, training), num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.batch(batch_size, drop_remainder=training)
    return (dataset.repeat() if training else dataset).prefetch(2)
