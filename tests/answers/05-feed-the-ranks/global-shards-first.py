# /// answer
# title = "Sharded first: each rank shuffles its own, and a step depends on the number of ranks"
#
# [fails]
# global-tests = ["ranks"]
# ///

# %% role="answer" id="global-batches"
def global_batches(num_samples, global_batch_size, seed):
    tf.random.set_seed(seed)
    mine = tf.data.Dataset.range(num_samples).shard(hvd.size(), hvd.rank()).shuffle(num_samples, seed=seed)
    return mine.batch(global_batch_size // hvd.size(), drop_remainder=True)
