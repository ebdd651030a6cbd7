# /// answer
# title = "The share by local rank: right on one node"
#
# [fails]
# drawn-tests = ["disjoint"]
# ///

# %% role="changes" id="from-generator"
# -        for number in range(hvd.rank(), num_samples, hvd.size()):
# +        for number in range(hvd.local_rank(), num_samples, hvd.local_size()):
