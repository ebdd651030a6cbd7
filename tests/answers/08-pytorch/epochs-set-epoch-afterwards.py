# /// answer
# title = "The epoch is set after its batches: the first two are alike"
#
# [fails]
# order-tests = ["epoch 1", "same order"]
# ///

# %% role="changes" id="read-epochs"
# -        sampler.set_epoch(epoch)
#          yield loader
# +        sampler.set_epoch(epoch)
