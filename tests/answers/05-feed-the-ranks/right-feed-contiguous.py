# /// answer
# title = "Contiguous shards, a buffer of exactly the share, no prefetch"
# ///

# %% role="answer" id="feed"
def feed(dataset, load, batch_size):
    num = int(dataset.cardinality())
    first, end = num * hvd.rank() // hvd.size(), num * (hvd.rank() + 1) // hvd.size()
    mine = dataset.skip(first).take(end - first).map(load).cache()
    return mine.shuffle(end - first).batch(batch_size)
