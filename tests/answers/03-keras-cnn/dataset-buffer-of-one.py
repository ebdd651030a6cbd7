# /// answer
# title = "A buffer of one record shuffles nothing"
#
# [fails]
# order-tests = ["shuffle the records"]
# ///

# %% role="changes" id="make-dataset"
# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +        dataset = dataset.shuffle(1, seed=seed).repeat()
