# /// answer
# title = "Shards after the shuffle, in batches of the share: right only where it divides"
#
# [fails]
# global-tests = ["shares of a global batch of 10"]
# ///

# %% role="answer" id="global-batches"
def global_batches(num_samples, global_batch_size, seed):
    tf.random.set_seed(seed)
    numbers = tf.data.Dataset.range(num_samples).shuffle(num_samples, seed=seed)
    numbers = numbers.take(num_samples // global_batch_size * global_batch_size)
    return numbers.shard(hvd.size(), hvd.rank()).batch(global_batch_size // hvd.size())
