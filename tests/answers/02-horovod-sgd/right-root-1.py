# /// answer
# title = "The root is rank 1, shards are chosen by their numbers, and the rate is a tensor"
# ///

# %% role="answer" id="shard"
def shard(x, y):
    mine = np.flatnonzero(np.arange(len(x)) % hvd.size() == hvd.rank())
    return x[mine], y[mine]


# %% role="answer" id="broadcast-start"
def broadcast_start(variables):
    hvd.broadcast_variables(variables, root_rank=1 if hvd.size() > 1 else 0)


# %% role="answer" id="scale-rate"
def scale_rate(learning_rate):
    return tf.constant(learning_rate) * tf.cast(hvd.size(), tf.float32)
