# /// answer
# title = "The loader shuffles, and nobody shards"
#
# [fails]
# shards-tests = ["no shard"]
# ///

# %% role="changes" id="read-epochs"
# -    sampler = DistributedSampler(dataset, seed=seed)
# -    loader = DataLoader(dataset, batch_size, sampler=sampler)
# +    loader = DataLoader(dataset, batch_size, shuffle=True)

# -        sampler.set_epoch(epoch)
