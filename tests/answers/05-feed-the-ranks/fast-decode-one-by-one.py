# /// answer
# title = "Only the reading made faster: decoding is the slowest stage now"
#
# [fails]
# faster-tests = ["times as fast"]
# ///

# %% role="changes" id="feed-fast"
# -    decoded = found.batch(batch_size).map(store.decode, num_parallel_calls=tf.data.AUTOTUNE)
# +    decoded = found.map(store.decode).batch(batch_size)
