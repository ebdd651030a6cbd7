# %% right-root-1
# title = "The root is rank 1, shards are chosen by their numbers, and the rate is a tensor"
def shard(x, y):
    mine = np.flatnonzero(np.arange(len(x)) % hvd.size() == hvd.rank())
    return x[mine], y[mine]


# %% id="broadcast-start"
def broadcast_start(variables):
    hvd.broadcast_variables(variables, root_rank=1 if hvd.size() > 1 else 0)


# %% id="scale-rate"
def scale_rate(learning_rate):
    return tf.constant(learning_rate) * tf.cast(hvd.size(), tf.float32)


# %% shard-blocks-rounded-up
# title = "Blocks rounded up: what is missing is all missing at the last rank"
# fails.shard-tests = ["shards.uneven"]
# consequences = ["horovod-shards-tests", "horovod-serial-tests", "keras-shards-tests"]
def shard(x, y):
    count = -(-len(x) // hvd.size())
    mine = slice(hvd.rank() * count, (hvd.rank() + 1) * count)
    return x[mine], y[mine]


# %% shard-by-local-rank
# title = "The shard is that of the local rank: right on one node"
# fails.shard-tests = ["shards.overlap"]
# fails.horovod-shards-tests = ["shards."]
# fails.horovod-serial-tests = []
# fails.keras-shards-tests = []
# -    mine = slice(hvd.rank(), None, hvd.size())
# +    mine = slice(hvd.local_rank(), None, hvd.local_size())


# %% shard-cut-to-equal
# title = "All shards are cut to the same size, so that the rest of the samples is lost"
# fails.shard-tests = ["shards.incomplete"]
# fails.horovod-shards-tests = ["shards.cut"]
# fails.horovod-serial-tests = []
# fails.keras-shards-tests = ["shards.cut"]
def shard(x, y):
    n = len(x) // hvd.size()
    mine = slice(hvd.rank() * n, (hvd.rank() + 1) * n)
    return x[mine], y[mine]


# %% shard-in-16-bits
# title = "The samples are rounded to 16 bits"
# fails.shard-tests = ["samples.changed"]
# consequences = ["horovod-shards-tests", "horovod-serial-tests", "keras-shards-tests", "keras-rate-tests"]
# -    return x[mine], y[mine]
# +    return x[mine].astype(np.float16), y[mine].astype(np.float16)


# %% shard-loses-the-rest
# title = "Every rank leaves out the last sample of its part"
# fails.shard-tests = ["shards.incomplete"]
# fails.horovod-shards-tests = ["shards.uneven-use"]
# fails.horovod-serial-tests = []
# fails.keras-shards-tests = ["shards.uneven-use"]
def shard(x, y):
    num_mine = len(x) // hvd.size()
    mine = slice(hvd.rank() * num_mine, (hvd.rank() + 1) * num_mine - 1)
    return x[mine], y[mine]


# %% shard-none
# title = "No shard: every rank keeps all data"
# fails.shard-tests = ["shards.none"]
# fails.horovod-shards-tests = ["shards.none"]
# fails.horovod-serial-tests = []
# fails.keras-shards-tests = ["shards.none"]
def shard(x, y):
    return x, y


# %% shard-of-the-notebooks-number
# title = "The slice ends at the notebook's number of samples"
# fails.shard-tests = ["shards.incomplete"]
def shard(x, y):
    mine = slice(hvd.rank(), num_samples, hvd.size())
    return x[mine], y[mine]


# %% shard-padded
# title = "Shorter shards begin again, so that all are of one size"
# fails.shard-tests = ["samples.repeated"]
# fails.horovod-shards-tests = ["shards.padded"]
# fails.horovod-serial-tests = []
# fails.keras-shards-tests = ["shards.padded"]
def shard(x, y):
    num_mine = -(-len(x) // hvd.size())
    return tuple(np.resize(part[hvd.rank() :: hvd.size()], num_mine) for part in (x, y))


# %% shard-seeded-by-rank
# title = "Each rank shuffles with its rank as seed before it takes its share"
# fails.shard-tests = ["shards.overlap"]
# fails.horovod-shards-tests = ["shards.uneven-use"]
# fails.keras-shards-tests = ["shards.uneven-use"]
def shard(x, y):
    order = np.random.default_rng(hvd.rank()).permutation(len(x))[hvd.rank() :: hvd.size()]
    return x[order], y[order]


# %% shard-shuffles-in-place
# title = "All ranks shuffle alike, but in the arrays that they are given"
# fails.shard-tests = ["data.changed"]
# -    mine = slice(hvd.rank(), None, hvd.size())
# +    mine = slice(hvd.rank(), None, hvd.size())
# +    for part in (x, y):
# +        np.random.default_rng(0).shuffle(part)


# %% shard-x-only
# title = "x is sharded, y is sorted differently"
# fails.shard-tests = ["labels.mismatched"]
# fails.horovod-serial-tests = []
# fails.horovod-shards-tests = []
# fails.keras-shards-tests = []
def shard(x, y):
    return x[hvd.rank() :: hvd.size()], y[: len(x[hvd.rank() :: hvd.size()])]


# %% tried-in-the-notebook
# title = "Tried in the notebook's own process, where Horovod is not initialised: the cell raises in its middle"
def shard(x, y):
    return every(x), every(y)


print(shard(x, y))


every = lambda part: part[hvd.rank() :: hvd.size()]
