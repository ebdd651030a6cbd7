# /// answer
# title = "Repeated, and then shuffled: epochs run into each other"
#
# [fails]
# input-modes-tests = ["shuffle, and then repeat"]
# ///

# %% role="changes" id="input-fn"
# -        records = records.shuffle(1000, seed=params["seed"]).repeat()
# +        records = records.repeat().shuffle(1000, seed=params["seed"])
