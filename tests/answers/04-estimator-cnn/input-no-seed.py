# /// answer
# title = "Shuffled without a seed"
#
# [fails]
# input-modes-tests = ["two runs"]
# ///

# %% role="changes" id="input-fn"
# -        records = records.shuffle(1000, seed=params["seed"]).repeat()
# +        records = records.shuffle(1000).repeat()
