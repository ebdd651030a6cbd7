# /// answer
# title = "Batched before it is shuffled: neighbours stay together"
#
# [fails]
# global-tests = ["neighbours stay together"]
# ///

# %% role="changes" id="global-batches"
# -    numbers = tf.data.Dataset.range(num_samples).shuffle(num_samples, seed=seed)
# -    batches = numbers.batch(global_batch_size, drop_remainder=True)
# +    batches = tf.data.Dataset.range(num_samples).batch(global_batch_size, drop_remainder=True)
# +    batches = batches.shuffle(num_samples, seed=seed)
