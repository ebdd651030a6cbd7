# /// answer
# title = "Each rank looks at all samples: right, and no faster"
#
# [fails]
# once-tests = ["no shard"]
# ///

# %% role="changes" id="evaluate"
# -    share = Subset(dataset, range(dist.get_rank(), len(dataset), dist.get_world_size()))
# +    share = dataset
