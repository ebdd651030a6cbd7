# /// answer
# title = "The rank is taken for the local rank"
#
# [fails]
# rank-facts-tests = ["local_rank", "two nodes"]
# ///

# %% role="changes" id="rank-facts"
# -    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank()}
# +    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.rank()}
