# /// answer
# title = "Sharded after a shuffle that every rank does in its own way"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests", "evaluate-once-tests", "evaluate-accuracy-tests", "strategy-together-tests", "strategy-plan-tests"]
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
