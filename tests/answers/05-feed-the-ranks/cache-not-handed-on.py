# /// answer
# title = "The cache is made, and the data set without it returned"
#
# [fails]
# cache-tests = ["two epochs"]
# ///

# %% role="changes" id="cached"
# -    return dataset.cache(str(folder / f"cache-of-rank-{hvd.rank()}"))
# +    dataset.cache(str(folder / f"cache-of-rank-{hvd.rank()}"))
# +    return dataset
