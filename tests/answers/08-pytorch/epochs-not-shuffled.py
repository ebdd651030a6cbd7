# /// answer
# title = "The sampler does not shuffle, and set_epoch changes nothing"
#
# [fails]
# order-tests = ["ascending"]
# ///

# %% role="changes" id="read-epochs"
# -    sampler = DistributedSampler(dataset, seed=seed)
# +    sampler = DistributedSampler(dataset, seed=seed, shuffle=False)
