# %% right-steps-by-allreduce
# title = "The largest share by a reduction of one-hot counts"
def equal_steps(dataset, batch_size):
    num_mine = int(dataset.reduce(np.int64(0), lambda count, _: count + 1).numpy())
    counts = hvd.allreduce(tf.one_hot(hvd.rank(), hvd.size()) * num_mine, op=hvd.Sum)
    num_steps = int(np.ceil(counts.numpy().max() / batch_size))
    return dataset.cache().repeat().batch(batch_size, drop_remainder=True).take(num_steps)


# %% steps-batch-then-repeat
# title = "Batched before it is repeated: the last batch of each round is smaller"
# fails.steps-tests = ["batches.wrong-size"]
# -    return dataset.repeat().batch(batch_size).take(num_steps)
# +    return dataset.batch(batch_size).repeat().take(num_steps)

# %% steps-of-each
# title = "Each rank counts for itself: the others wait"
# fails.steps-tests = ["steps.wrong-number"]
# -    num_most = max(hvd.allgather_object(num_mine))
# +    num_most = num_mine

# %% steps-of-the-fewest
# title = "All stop with the rank that has the fewest: samples are lost"
# fails.steps-tests = ["steps.wrong-number"]
# -    num_most = max(hvd.allgather_object(num_mine))
# +    num_most = min(hvd.allgather_object(num_mine))

# %% steps-one-sample-again
# title = "The first sample fills up what is missing"
# fails.steps-tests = ["samples.uneven-use"]
# -    return dataset.repeat().batch(batch_size).take(num_steps)
# +    first = dataset.take(1).repeat()
# +    return dataset.concatenate(first).batch(batch_size).take(num_steps)
