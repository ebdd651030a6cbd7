# /// answer
# title = "Repeated first, and then shuffled: the epochs mix"
# consequences = ["shards-tests", "train-tests", "continued-tests"]
#
# [fails]
# order-tests = ["epochs are mixed"]
# ///

# %% role="changes" id="make-dataset"
# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +        dataset = dataset.repeat().shuffle(1000, seed=seed)
