# /// answer
# title = "All shards are cut to the same size, and the root is rank 1"
# ///

# %% role="answer" id="shard"
def shard(x, y):
    count = len(x) // hvd.size()
    mine = np.arange(len(x))[hvd.rank() * count : (hvd.rank() + 1) * count]
    return x[mine], y[mine]


# %% role="answer" id="broadcast-start"
def broadcast_start(variables):
    hvd.broadcast_variables(variables, root_rank=1 if hvd.size() > 1 else 0)


# %% role="answer" id="scale-rate"
def scale_rate(learning_rate):
    return tf.constant(learning_rate) * tf.cast(hvd.size(), tf.float32)
