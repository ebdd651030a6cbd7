# /// answer
# title = "Repeated, and never shuffled"
#
# [fails]
# input-modes-tests = ["shuffle"]
# ///

# %% role="changes" id="input-fn"
# -        records = records.shuffle(1000, seed=params["seed"]).repeat()
# +        records = records.repeat()
