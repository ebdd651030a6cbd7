# /// answer
# title = "A buffer of one record shuffles nothing"
# verdict = "wrong"
#
# [fails]
# input-modes-tests = ["shuffle"]
# ///

# %% role="answer" id="input-fn"
def input_fn(files, training, worker, num_workers, params):
    records = read_files(files[worker::num_workers])
    if training:
        records = records.shuffle(1, seed=params["seed"]).repeat()
    return make_batches(records, training, params)
