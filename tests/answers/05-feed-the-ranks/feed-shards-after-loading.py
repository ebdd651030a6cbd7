# /// answer
# title = "Loaded and cached by every rank, and then sharded: right samples, N times the work"
#
# [fails]
# loaded-tests = ["shuffled or loaded"]
# ///

# %% role="changes" id="feed"
# -    mine = dataset.shard(hvd.size(), hvd.rank())
# -    loaded = mine.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache()
# +    loaded = dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache().shard(hvd.size(), hvd.rank())
