# /// answer
# title = "Methods are named and not called"
#
# [fails]
# rank-facts-tests = ["parentheses"]
# ///

# %% role="changes" id="rank-facts"
# -    return {"rank": hvd.rank(), "size": hvd.size(), "local_rank": hvd.local_rank()}
# +    return {"rank": hvd.rank, "size": hvd.size, "local_rank": hvd.local_rank}
