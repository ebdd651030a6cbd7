# /// answer
# title = "The rest of the last batch is dropped in validation, too"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# order-tests = ["leave out"]
# ///

# %% role="changes" id="make-dataset"
# -    return dataset.batch(batch_size, drop_remainder=training).prefetch(tf.data.AUTOTUNE)
# +    return dataset.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
