# /// answer
# title = "The cache before the map: what is expensive is done again"
#
# [fails]
# loaded-tests = ["4 times"]
# ///

# %% role="changes" id="feed"
# -    loaded = mine.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache()
# +    loaded = mine.cache().map(load, num_parallel_calls=tf.data.AUTOTUNE)
