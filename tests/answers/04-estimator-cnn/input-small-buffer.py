# /// answer
# title = "A buffer as large as a batch"
#
# [fails]
# input-modes-tests = ["places early"]
# ///

# %% role="changes" id="input-fn"
# -        records = records.shuffle(1000, seed=params["seed"]).repeat()
# +        records = records.shuffle(params["batch_size"], seed=params["seed"]).repeat()
