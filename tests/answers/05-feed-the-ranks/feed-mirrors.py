# /// answer
# title = "All images are mirrored: pixels are in their range, and the images are nobody's"
#
# [fails]
# feed-shards-tests = ["were pixels changed"]
# loaded-tests = []
# feed-order-tests = []
# ///

# %% role="changes" id="feed"
# -    loaded = mine.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache()
# +    loaded = mine.map(load, num_parallel_calls=tf.data.AUTOTUNE).map(lambda image: image[:, ::-1]).cache()
