# /// answer
# title = "The records are shuffled with the seed, the files without"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# order-tests = ["seed"]
# ///

# %% role="changes" id="make-dataset"
# -        dataset = dataset.shuffle(len(files), seed=seed)
# +        dataset = dataset.shuffle(len(files))
