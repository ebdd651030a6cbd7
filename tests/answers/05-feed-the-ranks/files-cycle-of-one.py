# /// answer
# title = "interleave with one file at a time"
#
# [fails]
# interleave-tests = ["interleave"]
# ///

# %% role="changes" id="from-files"
# -    found = mine.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE)
# +    found = mine.interleave(tf.data.TFRecordDataset, cycle_length=1)
