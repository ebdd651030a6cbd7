# /// answer
# title = "Nothing is shuffled, since interleave mixes the files"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# order-tests = ["shuffle the records"]
# ///

# %% role="changes" id="make-dataset"
# -    if training:
# -        dataset = dataset.shuffle(len(files), seed=seed)

# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +        dataset = dataset.repeat()
