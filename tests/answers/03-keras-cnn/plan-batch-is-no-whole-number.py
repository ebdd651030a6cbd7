# /// answer
# title = "The global batch is divided with a slash, and a batch of 4.0 pictures comes out"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# elastic-tests = ["whole number", "//"]
# ///

# %% role="changes" id="plan"
# -    batch_of_rank = global_batch_size // hvd.size() if global_batch_size else batch_size
# +    batch_of_rank = global_batch_size / hvd.size() if global_batch_size else batch_size
