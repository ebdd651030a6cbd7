# /// answer
# title = "Each rank shuffles the records with a seed of its own, and then takes its share: some come twice, some never"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# shards-tests = ["used by several ranks"]
# ///

# %% role="changes" id="make-dataset"
# -    files = files[hvd.rank() :: hvd.size()]

#      dataset = dataset.interleave(read, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE, deterministic=deterministic)
# +    dataset = dataset.shuffle(1000, seed=hvd.rank()).shard(hvd.size(), hvd.rank())
