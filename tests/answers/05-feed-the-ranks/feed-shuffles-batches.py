# /// answer
# title = "Whole batches are shuffled: the same samples stay together"
#
# [fails]
# feed-order-tests = ["together"]
# ///

# %% role="changes" id="feed"
# -    shuffled = loaded.shuffle(1000, seed=seed)
# -    return shuffled.batch(batch_size).prefetch(tf.data.AUTOTUNE)
# +    return loaded.batch(batch_size).shuffle(1000, seed=seed).prefetch(tf.data.AUTOTUNE)
