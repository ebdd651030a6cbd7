# /// answer
# title = "A seed that stands in the function, not the one given"
#
# [fails]
# global-tests = ["another seed"]
# ///

# %% role="changes" id="global-batches"
# -    tf.random.set_seed(seed)
# -    numbers = tf.data.Dataset.range(num_samples).shuffle(num_samples, seed=seed)
# +    tf.random.set_seed(1)
# +    numbers = tf.data.Dataset.range(num_samples).shuffle(num_samples, seed=1)
