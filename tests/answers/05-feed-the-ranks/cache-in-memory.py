# /// answer
# title = "A cache in memory"
#
# [fails]
# cache-tests = ["no file"]
# ///

# %% role="changes" id="cached"
# -    return dataset.cache(str(folder / f"cache-of-rank-{hvd.rank()}"))
# +    return dataset.cache()
