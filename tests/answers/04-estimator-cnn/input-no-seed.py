# /// answer
# title = "Shuffled without a seed"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests", "evaluate-once-tests", "evaluate-accuracy-tests", "strategy-together-tests", "strategy-plan-tests"]
#
# [fails]
# input-modes-tests = ["two runs"]
# ///

# %% role="changes" id="input-fn"
# -        records = records.shuffle(1000, seed=params["seed"]).repeat()
# +        records = records.shuffle(1000).repeat()
