# /// answer
# title = "Sharded after a shuffle that every rank does in its own way"
#
# [fails]
# input-shards-tests = ["not disjoint"]
# ///

# %% role="changes" id="input-fn"
# -    records = read_files(files[worker::num_workers])
# +    records = read_files(files)
# +    if training:
# +        records = records.shuffle(1000, seed=params["seed"] + worker, reshuffle_each_iteration=False)
# +    records = records.shard(num_workers, worker)
