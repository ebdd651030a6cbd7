# /// answer
# title = "The training data end after one epoch"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# order-tests = ["end after", "without end"]
# ///

# %% role="changes" id="make-dataset"
# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +        dataset = dataset.shuffle(1000, seed=seed)
