# /// answer
# title = "Rank 0 sends the names of the files, and hvd is initialised once more"
# ///

# %% role="answer" id="make-dataset"
def make_dataset(files, batch_size, training, deterministic=True):
    hvd.init()
    names = hvd.broadcast_object(sorted(map(str, files)), root_rank=0)
    mine = [name for number, name in enumerate(names) if number % hvd.size() == hvd.size() - 1 - hvd.rank()]
    generator = np.random.default_rng(seed + hvd.rank())
    if training:
        mine = [mine[place] for place in generator.permutation(len(mine))]
    dataset = tf.data.TFRecordDataset(mine)
    if training:
        dataset = dataset.shuffle(400, seed=int(generator.integers(1000)), reshuffle_each_iteration=True).repeat()
    dataset = dataset.map(lambda record: load_picture(record, training), num_parallel_calls=2)
    return dataset.batch(batch_size, drop_remainder=training)
