# /// answer
# title = "Shorter shards begin again, so that all ranks have as many samples"
#
# [fails]
# keras-shards-tests = ["not disjoint"]
# ///

# %% role="changes" id="train-keras"
#      x, y = shard(x, y)
# +    num_mine = int(hvd.allreduce(tf.constant(len(x)), op=hvd.Max))
# +    x, y = np.resize(x, num_mine), np.resize(y, num_mine)
