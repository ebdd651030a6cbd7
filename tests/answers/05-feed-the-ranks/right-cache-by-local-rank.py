# /// answer
# title = "A name by local rank: the folder is that of the node"
# ///

# %% role="answer" id="cached"
def cached(dataset, folder):
    path = folder / str(hvd.local_rank())
    path.mkdir(exist_ok=True)
    return dataset.cache(os.path.join(str(path), "samples"))
