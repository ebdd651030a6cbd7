# /// answer
# title = "Every rank is fed with all samples"
#
# [fails]
# feed-shards-tests = ["no shard"]
# loaded-tests = ["ranks"]
# ///

# %% role="changes" id="feed"
# -    mine = dataset.shard(hvd.size(), hvd.rank())
# +    mine = dataset
