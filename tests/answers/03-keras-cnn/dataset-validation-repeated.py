# /// answer
# title = "The data for validation are repeated as well"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# shards-tests = ["validation", "no end"]
# ///

# %% role="changes" id="make-dataset"
# -        dataset = dataset.shuffle(1000, seed=seed).repeat()
# +        dataset = dataset.shuffle(1000, seed=seed)
# +    dataset = dataset.repeat()
