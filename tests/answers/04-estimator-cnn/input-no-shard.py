# /// answer
# title = "Every worker reads all files, each in another order"
# verdict = "wrong"
#
# [fails]
# input-shards-tests = ["no shard"]
# evaluate-once-tests = ["same work"]
# train-shards-tests = ["no shard"]
# strategy-together-tests = ["not disjoint"]
# ///

# %% role="answer" id="input-fn"
def input_fn(files, training, worker, num_workers, params):
    """Return this worker's batches of pictures and labels; without end for training."""
    records = read_files(files)
    if training:
        records = records.shuffle(1000, seed=params["seed"]).repeat()
    return make_batches(records, training, params)
