# /// answer
# title = "The number of the node is the worker"
#
# [fails]
# train-shards-tests = ["several ranks"]
# ///

# %% role="changes" id="train"
# -            lambda: input_fn(files, True, hvd.rank(), hvd.size(), params),
# +            lambda: input_fn(files, True, hvd.cross_rank(), hvd.cross_size(), params),
