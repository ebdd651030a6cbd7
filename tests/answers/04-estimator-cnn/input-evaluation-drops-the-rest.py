# /// answer
# title = "Batches are made as for training in both modes: incomplete ones are dropped"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests", "evaluate-once-tests", "evaluate-accuracy-tests", "strategy-together-tests", "strategy-plan-tests"]
#
# [fails]
# input-modes-tests = ["leaves out"]
# ///

# %% role="changes" id="input-fn"
# -    return make_batches(records, training, params)
# +    return make_batches(records, True, params)
