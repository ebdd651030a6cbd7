# /// answer
# title = "The records are shuffled, and the shuffled data set is dropped"
#
# [fails]
# order-tests = ["order of the file", "assign"]
# ///

# %% role="changes" id="make-dataset"
# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +        dataset.shuffle(1000, seed=seed)
# +        dataset = dataset.repeat()
