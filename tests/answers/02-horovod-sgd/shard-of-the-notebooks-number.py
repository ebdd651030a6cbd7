# /// answer
# title = "The slice ends at the notebook's number of samples"
#
# [fails]
# shard-tests = ["not complete"]
# ///

# %% role="answer" id="shard"
def shard(x, y):
    mine = slice(hvd.rank(), num_samples, hvd.size())
    return x[mine], y[mine]
