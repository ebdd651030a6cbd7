# /// answer
# title = "The files are shuffled, the records are not"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# order-tests = ["shuffle the records"]
# ///

# %% role="changes" id="make-dataset"
# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +        dataset = dataset.repeat()
