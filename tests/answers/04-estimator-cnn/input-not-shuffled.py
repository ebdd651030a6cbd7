# /// answer
# title = "Repeated, and never shuffled"
# verdict = "wrong"
#
# [fails]
# input-modes-tests = ["shuffle"]
# ///

# %% role="answer" id="input-fn"
def input_fn(files, training, worker, num_workers, params):
    """Return this worker's batches of pictures and labels; without end for training."""
    records = read_files(files[worker::num_workers])
    if training:
        records = records.repeat()
    return make_batches(records, training, params)
