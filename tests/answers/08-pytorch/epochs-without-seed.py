# /// answer
# title = "The seed is not passed on: it is always the sampler's own"
#
# [fails]
# order-tests = ["another seed"]
# ///

# %% role="changes" id="read-epochs"
# -    sampler = DistributedSampler(dataset, seed=seed)
# +    sampler = DistributedSampler(dataset)
