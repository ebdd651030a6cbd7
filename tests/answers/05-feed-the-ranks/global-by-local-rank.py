# /// answer
# title = "The part by local rank: right on one node"
#
# [fails]
# global-tests = ["shares of a global batch"]
# ///

# %% role="changes" id="global-batches"
# -    return batches.map(lambda batch: batch[hvd.rank() :: hvd.size()])
# +    return batches.map(lambda batch: batch[hvd.local_rank() :: hvd.local_size()])
