# /// answer
# title = "The sampler is never told the epoch: each has the order of the first"
#
# [fails]
# order-tests = ["same order", "set_epoch"]
# ///

# %% role="changes" id="read-epochs"
# -        sampler.set_epoch(epoch)
