# /// answer
# title = "A name for each node, which its ranks share"
#
# [fails]
# cache-tests = ["out of a file of that one"]
# ///

# %% role="changes" id="cached"
# -    return dataset.cache(str(folder / f"cache-of-rank-{hvd.rank()}"))
# +    return dataset.cache(str(folder / f"cache-of-node-{hvd.cross_rank()}"))
