# /// answer
# title = "Tried in the notebook's own process, where Horovod is not initialised: the cell raises in its middle"
# ///

# %% role="answer" id="shard"
def shard(x, y):
    return every(x), every(y)


print(shard(x, y))


every = lambda part: part[hvd.rank() :: hvd.size()]
