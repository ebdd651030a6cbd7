# /// answer
# title = "Batches for all workers, on each of them"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests", "evaluate-once-tests", "evaluate-accuracy-tests", "strategy-together-tests", "strategy-plan-tests"]
#
# [fails]
# input-modes-tests = ["images in the batches", "expected 2"]
# ///

# %% role="changes" id="input-fn"
# -    return make_batches(records, training, params)
# +    return make_batches(records, training, {**params, "batch_size": params["batch_size"] * num_workers})
