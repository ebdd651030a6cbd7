# /// answer
# title = "One file for all ranks of a node: the second trains on the samples of the first"
#
# [fails]
# cache-tests = ["rank's cache file"]
# ///

# %% role="changes" id="cached"
# -    return dataset.cache(str(folder / f"cache-of-rank-{hvd.rank()}"))
# +    return dataset.cache(str(folder / "cache"))
