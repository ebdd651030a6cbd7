# /// answer
# title = "The shard is that of the local rank: right on one node"
#
# [fails]
# shard-tests = ["not disjoint"]
# horovod-shards-tests = ["not disjoint"]
# horovod-serial-tests = []
# keras-shards-tests = []
# ///

# %% role="changes" id="shard"
# -    mine = slice(hvd.rank(), None, hvd.size())
# +    mine = slice(hvd.local_rank(), None, hvd.local_size())
