# /// answer
# title = "Records are sharded after a shuffle that every rank does in its own way"
# verdict = "wrong"
#
# [fails]
# input-shards-tests = ["not disjoint"]
# ///

# %% role="answer" id="input-fn"
def input_fn(files, training, worker, num_workers, params):
    records = read_files(files)
    if training:
        records = records.shuffle(1000, seed=params["seed"] + worker)
    records = records.shard(num_workers, worker)
    return make_batches(records.repeat() if training else records, training, params)
