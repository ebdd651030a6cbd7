# /// answer
# title = "Files by their numbers, read once and kept in memory, shuffled in a larger buffer"
# ///

# %% role="answer" id="input-fn"
def input_fn(files, training, worker, num_workers, params):
    own = [file for number, file in enumerate(files) if number % num_workers == worker]
    records = read_files(own).cache()
    if training:
        tf.random.set_seed(params["seed"])
        records = records.shuffle(5000).repeat()
    return make_batches(records, training, params)
