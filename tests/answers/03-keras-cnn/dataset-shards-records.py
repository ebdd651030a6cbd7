# /// answer
# title = "The records are sharded after interleave, so every rank reads all files"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# shards-tests = ["shard the list of files"]
# ///

# %% role="changes" id="make-dataset"
# -    files = files[hvd.rank() :: hvd.size()]

#      dataset = dataset.interleave(read, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE, deterministic=deterministic)
# +    dataset = dataset.shard(hvd.size(), hvd.rank())
