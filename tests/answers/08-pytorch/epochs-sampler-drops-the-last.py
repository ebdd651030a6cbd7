# /// answer
# title = "The sampler drops what does not divide"
#
# [fails]
# shards-tests = ["not complete"]
# ///

# %% role="changes" id="read-epochs"
# -    sampler = DistributedSampler(dataset, seed=seed)
# +    sampler = DistributedSampler(dataset, seed=seed, drop_last=True)
