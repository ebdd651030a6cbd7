# /// answer
# title = "Shuffled once: every epoch comes in the same order"
#
# [fails]
# input-modes-tests = ["same order"]
# ///

# %% role="changes" id="input-fn"
# -        records = records.shuffle(1000, seed=params["seed"]).repeat()
# +        records = records.shuffle(1000, params["seed"], reshuffle_each_iteration=False).repeat()
