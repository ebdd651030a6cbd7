# /// answer
# title = "Sharded after a shuffle that every rank does in its own way"
# verdict = "wrong"
#
# [fails]
# input-shards-tests = ["not disjoint"]
# train-shards-tests = ["not disjoint"]
# evaluate-accuracy-tests = []
# strategy-together-tests = ["not disjoint"]
# ///

# %% role="answer" id="input-fn"
def input_fn(files, training, worker, num_workers, params):
    records = read_files(files)
    if training:
        records = records.shuffle(1000, seed=params["seed"] + worker, reshuffle_each_iteration=False)
    records = records.shard(num_workers, worker)
    if training:
        records = records.shuffle(1000, seed=params["seed"]).repeat()
    return make_batches(records, training, params)
