# /// answer
# title = "Whole batches only: the last images never come"
#
# [fails]
# samples-tests = ["sizes of the batches"]
# ///

# %% role="changes" id="feed-fast"
# -    decoded = found.batch(batch_size).map(store.decode, num_parallel_calls=tf.data.AUTOTUNE)
# +    decoded = found.batch(batch_size, drop_remainder=True).map(store.decode, num_parallel_calls=tf.data.AUTOTUNE)
