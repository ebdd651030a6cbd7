# /// answer
# title = "The part that does not divide evenly is given to nobody, and rank 0 gets one more"
#
# [fails]
# shard-tests = ["not complete"]
# ///

# %% role="answer" id="shard"
def shard(x, y):
    # contiguous parts; for 31 samples on 3 ranks: 10, 10 and 9
    count = len(x) // hvd.size()
    first = hvd.rank() * count
    last = first + count - (1 if hvd.rank() == hvd.size() - 1 and len(x) % hvd.size() else 0)
    return x[first:last], y[first:last]
