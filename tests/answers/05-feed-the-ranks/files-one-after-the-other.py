# /// answer
# title = "One reader for all files: no interleaving"
#
# [fails]
# interleave-tests = ["interleave"]
# ///

# %% role="changes" id="from-files"
# -    found = mine.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE)
# +    found = tf.data.TFRecordDataset(mine)
