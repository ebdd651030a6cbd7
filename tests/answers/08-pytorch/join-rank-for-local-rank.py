# /// answer
# title = "The rank for the local rank: right on one node"
#
# [fails]
# join-tests = ["the local rank on rank"]
# ///

# %% role="changes" id="join"
# -    return dist.get_rank(), dist.get_world_size(), int(os.environ["LOCAL_RANK"])
# +    return dist.get_rank(), dist.get_world_size(), dist.get_rank()
