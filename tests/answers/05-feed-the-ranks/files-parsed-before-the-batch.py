# /// answer
# title = "Parsed before they are batched: images of shape (n, 1, 28, 28)"
#
# [fails]
# files-tests = ["shape of an image"]
# interleave-tests = ["shape of an image"]
# ///

# %% role="changes" id="from-files"
# -    batches = found.batch(batch_size).map(parse_batch, num_parallel_calls=tf.data.AUTOTUNE)
# -    return batches.prefetch(tf.data.AUTOTUNE)
# +    parsed = found.map(lambda record: parse_batch([record]), num_parallel_calls=tf.data.AUTOTUNE)
# +    return parsed.batch(batch_size).prefetch(tf.data.AUTOTUNE)
