# /// answer
# title = "Keras trains on all data on every rank"
#
# [fails]
# keras-shards-tests = ["no shard"]
# ///

# %% role="changes" id="train-keras"
# -    x, y = shard(x, y)
