# /// answer
# title = "Batches are made as for training in both modes: incomplete ones are dropped"
# verdict = "wrong"
# consequences = [
#     "train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests",
#     "train-continued-tests", "evaluate-once-tests", "evaluate-accuracy-tests", "strategy-together-tests",
#     "strategy-plan-tests",
# ]
#
# [fails]
# input-modes-tests = ["leaves out"]
# ///

# %% role="answer" id="input-fn"
def input_fn(files, training, worker, num_workers, params):
    """Return this worker's batches of pictures and labels; without end for training."""
    records = read_files(files[worker::num_workers])
    if training:
        records = records.shuffle(1000, seed=params["seed"]).repeat()
    return make_batches(records, True, params)
