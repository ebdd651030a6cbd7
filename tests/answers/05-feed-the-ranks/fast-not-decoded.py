# /// answer
# title = "Nothing is decoded: fast, and no images"
#
# [fails]
# samples-tests = ["no image of the store"]
# faster-tests = ["no image of the store"]
# ///

# %% role="changes" id="feed-fast"
# -    decoded = found.batch(batch_size).map(store.decode, num_parallel_calls=tf.data.AUTOTUNE)
# -    return decoded.prefetch(tf.data.AUTOTUNE)
# +    return found.batch(batch_size).prefetch(tf.data.AUTOTUNE)
