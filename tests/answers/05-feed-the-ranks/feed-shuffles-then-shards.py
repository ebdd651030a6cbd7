# /// answer
# title = "Shuffled before the shard, on each rank in an order of its own"
#
# [fails]
# feed-shards-tests = ["disjoint"]
# loaded-tests = ["ranks"]
# ///

# %% role="changes" id="feed"
# -    mine = dataset.shard(hvd.size(), hvd.rank())
# +    mine = dataset.shuffle(1000, seed=hvd.rank()).shard(hvd.size(), hvd.rank())
