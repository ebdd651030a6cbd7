# /// answer
# title = "Blocks rounded up: what is missing is all missing at the last rank"
# consequences = ["horovod-shards-tests", "horovod-serial-tests", "keras-shards-tests"]
#
# [fails]
# shard-tests = ["equal size"]
# ///

# %% role="answer" id="shard"
def shard(x, y):
    count = -(-len(x) // hvd.size())
    mine = slice(hvd.rank() * count, (hvd.rank() + 1) * count)
    return x[mine], y[mine]
