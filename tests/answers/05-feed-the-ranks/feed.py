# %% feed-buffer-of-a-batch
# title = "A buffer as large as a batch, which mixes neighbours only"
# fails.feed-order-tests = ["order.small-buffer"]
# -    shuffled = loaded.shuffle(1000, seed=seed)
# +    shuffled = loaded.shuffle(batch_size, seed=seed)

# %% feed-caches-numbers
# title = "The cache before the map: what is expensive is done again"
# fails.loaded-tests = ["cache.none"]
# -    loaded = mine.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache()
# +    loaded = mine.cache().map(load, num_parallel_calls=tf.data.AUTOTUNE)

# %% feed-caches-the-order
# title = "The cache behind the shuffle: every epoch is the first"
# fails.feed-order-tests = ["order.repeated"]
# -    loaded = mine.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache()
# -    shuffled = loaded.shuffle(1000, seed=seed)
# +    loaded = mine.map(load, num_parallel_calls=tf.data.AUTOTUNE)
# +    shuffled = loaded.shuffle(1000, seed=seed).cache()

# %% feed-mirrors
# title = "All images are mirrored: pixels are in their range, and the images are nobody's"
# fails.feed-shards-tests = ["images.foreign"]
# fails.loaded-tests = []
# fails.feed-order-tests = []
# -    loaded = mine.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache()
# +    loaded = mine.map(load, num_parallel_calls=tf.data.AUTOTUNE).map(lambda image: image[:, ::-1]).cache()

# %% feed-no-shard
# title = "Every rank is fed with all samples"
# fails.feed-shards-tests = ["shards.none"]
# fails.loaded-tests = ["loading.by-several-ranks"]
# -    mine = dataset.shard(hvd.size(), hvd.rank())
# +    mine = dataset

# %% feed-no-shuffle
# title = "No shuffle"
# fails.feed-order-tests = ["order.not-shuffled"]
# -    shuffled = loaded.shuffle(1000, seed=seed)
# +    shuffled = loaded

# %% feed-shards-after-loading
# title = "Loaded and cached by every rank, and then sharded: right samples, N times the work"
# fails.loaded-tests = ["loading.by-several-ranks"]
# -    mine = dataset.shard(hvd.size(), hvd.rank())
# -    loaded = mine.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache()
# +    loaded = dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache().shard(hvd.size(), hvd.rank())

# %% feed-shuffles-batches
# title = "Whole batches are shuffled: the same samples stay together"
# fails.feed-order-tests = ["batches.repeated"]
# -    shuffled = loaded.shuffle(1000, seed=seed)
# -    return shuffled.batch(batch_size).prefetch(tf.data.AUTOTUNE)
# +    return loaded.batch(batch_size).shuffle(1000, seed=seed).prefetch(tf.data.AUTOTUNE)

# %% feed-shuffles-then-shards
# title = "Shuffled before the shard, on each rank in an order of its own"
# fails.feed-shards-tests = ["shards.overlap"]
# fails.loaded-tests = ["loading.by-several-ranks"]
# -    mine = dataset.shard(hvd.size(), hvd.rank())
# +    mine = dataset.shuffle(1000, seed=hvd.rank()).shard(hvd.size(), hvd.rank())

# %% right-feed-contiguous
# title = "Contiguous shards, a buffer of exactly the share, no prefetch"
def feed(dataset, load, batch_size):
    num = int(dataset.cardinality())
    first, end = num * hvd.rank() // hvd.size(), num * (hvd.rank() + 1) // hvd.size()
    mine = dataset.skip(first).take(end - first).map(load).cache()
    return mine.shuffle(end - first).batch(batch_size)
