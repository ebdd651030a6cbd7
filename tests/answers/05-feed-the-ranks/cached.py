# %% cache-in-memory
# title = "A cache in memory"
# fails.cache-tests = ["cache.elsewhere"]
# -    return dataset.cache(str(folder / f"cache-of-rank-{hvd.rank()}"))
# +    return dataset.cache()

# %% cache-not-handed-on
# title = "The cache is made, and the data set without it returned"
# fails.cache-tests = ["cache.read-again"]
# -    return dataset.cache(str(folder / f"cache-of-rank-{hvd.rank()}"))
# +    dataset.cache(str(folder / f"cache-of-rank-{hvd.rank()}"))
# +    return dataset

# %% cache-one-for-all
# title = "One file for all ranks of a node: the second trains on the samples of the first"
# fails.cache-tests = ["cache.same-name"]
# -    return dataset.cache(str(folder / f"cache-of-rank-{hvd.rank()}"))
# +    return dataset.cache(str(folder / "cache"))

# %% right-cache-by-local-rank
# title = "A name by local rank: the folder is that of the node"
def cached(dataset, folder):
    path = folder / str(hvd.local_rank())
    path.mkdir(exist_ok=True)
    return dataset.cache(os.path.join(str(path), "samples"))
