# /// answer
# title = "Shards of a node: right on one, and on two each node reads all"
#
# [fails]
# shards-tests = ["not disjoint"]
# ///

# %% role="changes" id="read-epochs"
# -    sampler = DistributedSampler(dataset, seed=seed)
# +    size, rank = int(os.environ["LOCAL_WORLD_SIZE"]), int(os.environ["LOCAL_RANK"])
# +    sampler = DistributedSampler(dataset, size, rank, seed=seed)
