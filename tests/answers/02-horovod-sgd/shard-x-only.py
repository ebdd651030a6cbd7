# /// answer
# title = "x is sharded, y is sorted differently"
#
# [fails]
# shard-tests = ["belong together"]
# horovod-serial-tests = []
# horovod-shards-tests = []
# keras-shards-tests = []
# ///

# %% role="answer" id="shard"
def shard(x, y):
    return x[hvd.rank() :: hvd.size()], y[: len(x[hvd.rank() :: hvd.size()])]
