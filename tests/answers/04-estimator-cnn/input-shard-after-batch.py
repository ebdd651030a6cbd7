# /// answer
# title = "Sharded at the end, batch by batch: every rank reads and decodes all files"
#
# [fails]
# input-shards-tests = ["shard the list of files"]
# input-modes-tests = ["shuffle the records"]
# ///

# %% role="answer" id="input-fn"
def input_fn(files, training, worker, num_workers, params):
    dataset = make_batches(read_files(files), training, params).shard(num_workers, worker)
    return dataset.shuffle(1000, seed=params["seed"]).repeat() if training else dataset
