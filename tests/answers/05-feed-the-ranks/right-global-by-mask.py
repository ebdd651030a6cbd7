# /// answer
# title = "All shuffle alike, then a mask over the places of the global batch"
# ///

# %% role="answer" id="global-batches"
def global_batches(num_samples, global_batch_size, seed):
    tf.random.set_seed(seed)
    numbers = tf.data.Dataset.range(num_samples).shuffle(num_samples, seed=seed)
    mine = np.arange(global_batch_size) % hvd.size() == hvd.rank()
    return numbers.batch(global_batch_size, drop_remainder=True).map(lambda batch: tf.boolean_mask(batch, mine))
