# /// answer
# title = "The sampler of the training: some samples count twice"
#
# [fails]
# once-tests = ["not disjoint"]
# ///

# %% role="changes" id="evaluate"
# -    share = Subset(dataset, range(dist.get_rank(), len(dataset), dist.get_world_size()))
# +    share = Subset(dataset, list(DistributedSampler(dataset, shuffle=False)))
