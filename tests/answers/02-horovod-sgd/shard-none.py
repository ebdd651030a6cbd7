# /// answer
# title = "No shard: every rank keeps all data"
#
# [fails]
# shard-tests = ["no shard"]
# horovod-shards-tests = ["no shard"]
# horovod-serial-tests = []
# keras-shards-tests = ["no shard"]
# ///

# %% role="answer" id="shard"
def shard(x, y):
    return x, y
