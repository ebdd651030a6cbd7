# /// answer
# title = "Loaded anew in every epoch"
#
# [fails]
# loaded-tests = ["4 times"]
# ///

# %% role="changes" id="feed"
# -    loaded = mine.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache()
# +    loaded = mine.map(load, num_parallel_calls=tf.data.AUTOTUNE)
