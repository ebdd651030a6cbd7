# /// answer
# title = "The notebook's seed instead of the parameter's"
#
# [fails]
# input-modes-tests = ["another params"]
# ///

# %% role="changes" id="input-fn"
# -        records = records.shuffle(1000, seed=params["seed"]).repeat()
# +        records = records.shuffle(1000, seed=seed).repeat()
