# /// answer
# title = "The files are shuffled, with the same seed everywhere, and then sharded: other files in every epoch"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# shards-tests = ["disjoint"]
# ///

# %% role="changes" id="make-dataset"
# -    files = files[hvd.rank() :: hvd.size()]

#          dataset = dataset.shuffle(len(files), seed=seed)
# +    dataset = dataset.shard(hvd.size(), hvd.rank())
