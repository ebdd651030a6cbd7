# /// answer
# title = "A prefetch at the end of the slow pipeline"
#
# [fails]
# faster-tests = ["times as fast"]
# ///

# %% role="changes" id="feed-fast"
# -    found = files.interleave(store.read, cycle_length=8, num_parallel_calls=8)
# -    decoded = found.batch(batch_size).map(store.decode, num_parallel_calls=tf.data.AUTOTUNE)
# +    decoded = files.flat_map(store.read).map(store.decode).batch(batch_size)
