# /// answer
# title = "Batches are shuffled in place of records: the same images are together in every epoch"
#
# [fails]
# input-modes-tests = ["together in a batch", "shuffle the records"]
# ///

# %% role="answer" id="input-fn"
def input_fn(files, training, worker, num_workers, params):
    dataset = make_batches(read_files(files[worker::num_workers]), training, params)
    return dataset.shuffle(1000, seed=params["seed"]).repeat() if training else dataset
