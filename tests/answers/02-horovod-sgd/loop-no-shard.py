# /// answer
# title = "The loop trains on all data on every rank: the result looks right"
#
# [fails]
# horovod-shards-tests = ["no shard"]
# horovod-serial-tests = ["steps"]
# ///

# %% role="changes" id="train-horovod"
# -    x, y = shard(x, y)
