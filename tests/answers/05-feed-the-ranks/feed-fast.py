# %% fast-decode-one-by-one
# title = "Only the reading made faster: decoding is the slowest stage now"
# fails.faster-tests = ["pipeline.too-slow"]
# -    decoded = found.batch(batch_size).map(store.decode, num_parallel_calls=tf.data.AUTOTUNE)
# +    decoded = found.map(store.decode).batch(batch_size)

# %% fast-drops-the-rest
# title = "Whole batches only: the last images never come"
# fails.samples-tests = ["batches.wrong-size"]
# -    decoded = found.batch(batch_size).map(store.decode, num_parallel_calls=tf.data.AUTOTUNE)
# +    decoded = found.batch(batch_size, drop_remainder=True).map(store.decode, num_parallel_calls=tf.data.AUTOTUNE)

# %% fast-half-of-the-files
# title = "Faster, since it reads half of the files twice"
# fails.samples-tests = ["batches.missing-images"]
# -    files = tf.data.Dataset.from_tensor_slices(store.files)
# +    files = tf.data.Dataset.from_tensor_slices(store.files[::2]).repeat(2)

# %% fast-not-decoded
# title = "Nothing is decoded: fast, and no images"
# fails.samples-tests = ["images.foreign"]
# fails.faster-tests = ["images.foreign"]
# -    decoded = found.batch(batch_size).map(store.decode, num_parallel_calls=tf.data.AUTOTUNE)
# -    return decoded.prefetch(tf.data.AUTOTUNE)
# +    return found.batch(batch_size).prefetch(tf.data.AUTOTUNE)

# %% right-fast-other-ways
# title = "Threads for every stage, images one by one, batched late"
def feed_fast(store, batch_size):
    files = tf.data.Dataset.from_tensor_slices(store.files).shuffle(8)
    found = files.interleave(store.read, cycle_length=8, num_parallel_calls=8, deterministic=False)
    return found.map(store.decode, num_parallel_calls=8).batch(batch_size).prefetch(2)
