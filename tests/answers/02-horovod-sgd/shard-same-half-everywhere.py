# /// answer
# title = "Every rank takes the first part"
#
# [fails]
# shard-tests = ["not disjoint"]
# horovod-shards-tests = ["not disjoint"]
# keras-shards-tests = ["not disjoint"]
# ///

# %% role="answer" id="shard"
def shard(x, y):
    count = len(x) // hvd.size()
    return x[:count], y[:count]
