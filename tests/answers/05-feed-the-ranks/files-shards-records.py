# /// answer
# title = "Sharded behind the interleave: every rank reads every file"
#
# [fails]
# files-tests = ["shard the list of files"]
# ///

# %% role="changes" id="from-files"
# -    mine = tf.data.Dataset.from_tensor_slices(files[hvd.rank() :: hvd.size()])
# -    found = mine.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE)
# +    mine = tf.data.Dataset.from_tensor_slices(files)
# +    found = mine.interleave(tf.data.TFRecordDataset, cycle_length=4).shard(hvd.size(), hvd.rank())
