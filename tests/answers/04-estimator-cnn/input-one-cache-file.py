# /// answer
# title = "The records are kept in a file, the same for all workers"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests", "evaluate-once-tests", "evaluate-accuracy-tests", "strategy-together-tests", "strategy-plan-tests"]
#
# [fails]
# input-shards-tests = ["used by several"]
# ///

# %% role="changes" id="input-fn"
# -    records = read_files(files[worker::num_workers])
# +    records = read_files(files[worker::num_workers]).cache("records")
