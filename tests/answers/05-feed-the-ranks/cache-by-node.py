# /// answer
# title = "A name for each node, which its ranks share"
#
# [fails]
# cache-tests = ["rank's cache file"]
# ///

# %% role="changes" id="cached"
# -    return dataset.cache(str(folder / f"cache-of-rank-{hvd.rank()}"))
# +    return dataset.cache(str(folder / f"cache-of-node-{hvd.cross_rank()}"))
