# /// answer
# title = "The cache behind the shuffle: every epoch is the first"
#
# [fails]
# feed-order-tests = ["same order"]
# ///

# %% role="changes" id="feed"
# -    loaded = mine.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache()
# -    shuffled = loaded.shuffle(1000, seed=seed)
# +    loaded = mine.map(load, num_parallel_calls=tf.data.AUTOTUNE)
# +    shuffled = loaded.shuffle(1000, seed=seed).cache()
