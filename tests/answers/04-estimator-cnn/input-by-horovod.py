# /// answer
# title = "Horovod's rank and size instead of the worker's"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests", "evaluate-once-tests", "evaluate-accuracy-tests", "strategy-together-tests", "strategy-plan-tests"]
#
# [fails]
# input-shards-tests = ["no shard", "by the arguments"]
# ///

# %% role="changes" id="input-fn"
# -    records = read_files(files[worker::num_workers])
# +    records = read_files(files[hvd.rank() :: hvd.size()])
