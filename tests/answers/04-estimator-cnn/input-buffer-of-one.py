# /// answer
# title = "A buffer of one record shuffles nothing"
#
# [fails]
# input-modes-tests = ["shuffle"]
# ///

# %% role="changes" id="input-fn"
# -        records = records.shuffle(1000, seed=params["seed"]).repeat()
# +        records = records.shuffle(1, seed=params["seed"]).repeat()
