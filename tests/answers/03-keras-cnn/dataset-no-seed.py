# /// answer
# title = "The records are shuffled without a seed"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# order-tests = ["seed"]
# ///

# %% role="changes" id="make-dataset"
# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +        dataset = dataset.shuffle(1000).repeat()
