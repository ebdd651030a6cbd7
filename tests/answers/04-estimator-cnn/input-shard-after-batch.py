# /// answer
# title = "Sharded at the end, batch by batch, of data that all ranks shuffle alike"
# verdict = "wrong"
#
# [fails]
# input-shards-tests = ["shard the list of files"]
# ///

# %% role="answer" id="input-fn"
def input_fn(files, training, worker, num_workers, params):
    records = read_files(files)
    if training:
        records = records.shuffle(1000, seed=params["seed"], reshuffle_each_iteration=False)
    dataset = make_batches(records, training, params).shard(num_workers, worker)
    return dataset.repeat() if training else dataset
