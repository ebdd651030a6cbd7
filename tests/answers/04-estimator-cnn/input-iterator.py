# /// answer
# title = "An iterator over the data set instead of the data set"
#
# [fails]
# input-shards-tests = ["an iterator over a data set"]
# input-modes-tests = ["an iterator over a data set"]
# ///

# %% role="answer" id="input-fn"
def input_fn(files, training, worker, num_workers, params):
    records = read_files(files[worker::num_workers])
    if training:
        records = records.shuffle(1000, seed=params["seed"]).repeat()
    return iter(make_batches(records, training, params))
