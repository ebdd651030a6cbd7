# /// answer
# title = "dataset.shard over the names, files and samples shuffled, read as they come"
# ///

# %% role="answer" id="from-files"
def from_files(files, batch_size):
    dataset = tf.data.Dataset.from_tensor_slices(files).shard(hvd.size(), hvd.rank()).shuffle(len(files))
    dataset = dataset.interleave(
        lambda file: tf.data.TFRecordDataset(file), block_length=1, cycle_length=8, deterministic=False
    )
    return dataset.batch(batch_size).map(parse_batch)
