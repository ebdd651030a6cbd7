# /// answer
# title = "The last rank takes all of the rest"
#
# [fails]
# shard-tests = ["equal size"]
# ///

# %% role="answer" id="shard"
def shard(x, y):
    count = len(x) // hvd.size()
    end = len(x) if hvd.rank() == hvd.size() - 1 else (hvd.rank() + 1) * count
    return x[hvd.rank() * count : end], y[hvd.rank() * count : end]
