# /// answer
# title = "Every rank shuffles with a seed of its own before its pipeline shards"
#
# [fails]
# keras-shards-tests = ["not disjoint"]
# ///

# %% role="changes" id="train-keras"
# -    x, y = shard(x, y)
# +    order = np.random.default_rng(hvd.rank()).permutation(len(x))
# +    data = tf.data.Dataset.from_tensor_slices((x[order], y[order])).shard(hvd.size(), hvd.rank()).batch(batch_size)

# -    model.fit(x, y, batch_size=batch_size, epochs=num_epochs, callbacks=callbacks, verbose=0)
# +    model.fit(data, epochs=num_epochs, callbacks=callbacks, verbose=0)
