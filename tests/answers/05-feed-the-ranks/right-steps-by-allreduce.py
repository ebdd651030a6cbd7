# /// answer
# title = "The largest share by a reduction of one-hot counts"
# ///

# %% role="answer" id="equal-steps"
def equal_steps(dataset, batch_size):
    num_mine = int(dataset.reduce(np.int64(0), lambda count, _: count + 1).numpy())
    counts = hvd.allreduce(tf.one_hot(hvd.rank(), hvd.size()) * num_mine, op=hvd.Sum)
    num_steps = int(np.ceil(counts.numpy().max() / batch_size))
    return dataset.cache().repeat().batch(batch_size, drop_remainder=True).take(num_steps)
