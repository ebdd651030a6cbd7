# /// answer
# title = "A seed for each rank: the orders are others, and the shards overlap"
#
# [fails]
# shards-tests = ["not disjoint"]
# ///

# %% role="changes" id="read-epochs"
# -    sampler = DistributedSampler(dataset, seed=seed)
# +    sampler = DistributedSampler(dataset, seed=seed + dist.get_rank())
