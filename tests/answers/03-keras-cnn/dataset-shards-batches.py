# /// answer
# title = "The batches are sharded: batch first, then shard"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# shards-tests = ["shard the list of files"]
# ///

# %% role="changes" id="make-dataset"
# -    files = files[hvd.rank() :: hvd.size()]

# -    return dataset.batch(batch_size, drop_remainder=training).prefetch(tf.data.AUTOTUNE)
# +    return dataset.batch(batch_size, drop_remainder=training).shard(hvd.size(), hvd.rank()).prefetch(tf.data.AUTOTUNE)
