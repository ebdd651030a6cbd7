# /// answer
# title = "Every rank takes the whole global batch"
#
# [fails]
# global-tests = ["shares of a global batch"]
# ///

# %% role="changes" id="global-batches"
# -    return batches.map(lambda batch: batch[hvd.rank() :: hvd.size()])
# +    return batches
