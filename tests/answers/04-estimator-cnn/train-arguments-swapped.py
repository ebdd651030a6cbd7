# /// answer
# title = "Arguments of the input function in the wrong order: shard 2 of 0, shard 2 of 1"
#
# [fails]
# train-start-tests = []
# train-shards-tests = ["failed: "]
# train-steps-tests = []
# train-config-tests = []
# train-continued-tests = []
# ///

# %% role="changes" id="train"
# -            lambda: input_fn(files, True, hvd.rank(), hvd.size(), params),
# +            lambda: input_fn(files, True, hvd.size(), hvd.rank(), params),
