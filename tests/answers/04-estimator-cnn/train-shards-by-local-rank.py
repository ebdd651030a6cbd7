# /// answer
# title = "The local rank is the worker: right on one node, twice the same files on two"
#
# [fails]
# train-shards-tests = ["used by several ranks"]
# ///

# %% role="changes" id="train"
# -            lambda: input_fn(files, True, hvd.rank(), hvd.size(), params),
# +            lambda: input_fn(files, True, hvd.local_rank(), hvd.size(), params),
