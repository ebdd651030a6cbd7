# /// answer
# title = "The order of every epoch by NumPy, out of a generator"
# ///

# %% role="answer" id="global-batches"
def global_batches(num_samples, global_batch_size, seed):
    rng = np.random.default_rng(seed)

    def steps():
        order = rng.permutation(num_samples)
        for first in range(0, num_samples - global_batch_size + 1, global_batch_size):
            yield np.array_split(order[first : first + global_batch_size], hvd.size())[hvd.rank()]

    return tf.data.Dataset.from_generator(steps, output_signature=tf.TensorSpec((None,), tf.int64))
