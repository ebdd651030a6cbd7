# /// answer
# title = "The last batch dropped, and its samples in every epoch"
#
# [fails]
# files-tests = ["not complete"]
# ///

# %% role="changes" id="from-files"
# -    batches = found.batch(batch_size).map(parse_batch, num_parallel_calls=tf.data.AUTOTUNE)
# +    batches = found.batch(batch_size, drop_remainder=True).map(parse_batch)
