# /// answer
# title = "The pipeline for training is used for evaluation, too"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests", "evaluate-once-tests", "evaluate-accuracy-tests", "strategy-together-tests", "strategy-plan-tests"]
#
# [fails]
# input-modes-tests = ["no end"]
# ///

# %% role="answer" id="input-fn"
def input_fn(files, training, worker, num_workers, params):
    records = read_files(files[worker::num_workers])
    records = records.shuffle(1000, seed=params["seed"]).repeat()
    return make_batches(records, training, params)
