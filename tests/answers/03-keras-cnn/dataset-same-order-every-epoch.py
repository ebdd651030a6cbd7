# /// answer
# title = "Shuffled once, and then every epoch is the same"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# order-tests = ["every epoch"]
# ///

# %% role="changes" id="make-dataset"
# -    if training:
# -        dataset = dataset.shuffle(len(files), seed=seed)

# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +        dataset = dataset.shuffle(1000, seed=seed, reshuffle_each_iteration=False).repeat()
