# /// answer
# title = "Every rank takes itself for worker 0 of 1"
#
# [fails]
# train-shards-tests = ["no shard"]
# ///

# %% role="changes" id="train"
# -            lambda: input_fn(files, True, hvd.rank(), hvd.size(), params),
# +            lambda: input_fn(files, True, 0, 1, params),
