# /// answer
# title = "The pipeline for training is used for evaluation, too"
#
# [fails]
# input-modes-tests = ["no end"]
# ///

# %% role="answer" id="input-fn"
def input_fn(files, training, worker, num_workers, params):
    records = read_files(files[worker::num_workers])
    records = records.shuffle(1000, seed=params["seed"]).repeat()
    return make_batches(records, training, params)
