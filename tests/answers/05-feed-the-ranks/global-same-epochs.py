# /// answer
# title = "The order is drawn once: every epoch is the same"
#
# [fails]
# global-tests = ["second epoch"]
# ///

# %% role="changes" id="global-batches"
# -    numbers = tf.data.Dataset.range(num_samples).shuffle(num_samples, seed=seed)
# +    numbers = tf.data.Dataset.range(num_samples).shuffle(num_samples, seed=seed, reshuffle_each_iteration=False)
