# /// answer
# title = "A pipeline drops the last, smaller batch"
#
# [fails]
# keras-shards-tests = ["last, smaller batch"]
# ///

# %% role="changes" id="train-keras"
# -    model.fit(x, y, batch_size=batch_size, epochs=num_epochs, callbacks=callbacks, verbose=0)
# +    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(batch_size, drop_remainder=True)
# +    model.fit(data, epochs=num_epochs, callbacks=callbacks, verbose=0)
