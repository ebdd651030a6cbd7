# /// answer
# title = "Slices of the share rounded down: the rest of a global batch is lost"
#
# [fails]
# global-tests = ["shares of a global batch of 10"]
# ///

# %% role="changes" id="global-batches"
# -    return batches.map(lambda batch: batch[hvd.rank() :: hvd.size()])
# +    share = global_batch_size // hvd.size()
# +    return batches.map(lambda batch: batch[hvd.rank() * share : (hvd.rank() + 1) * share])
