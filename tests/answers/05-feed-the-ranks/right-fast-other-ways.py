# /// answer
# title = "Threads for every stage, images one by one, batched late"
# ///

# %% role="answer" id="feed-fast"
def feed_fast(store, batch_size):
    files = tf.data.Dataset.from_tensor_slices(store.files).shuffle(8)
    found = files.interleave(store.read, cycle_length=8, num_parallel_calls=8, deterministic=False)
    return found.map(store.decode, num_parallel_calls=8).batch(batch_size).prefetch(2)
