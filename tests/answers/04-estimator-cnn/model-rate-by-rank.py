# /// answer
# title = "The rate grows with the number of the rank"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# model-rate-tests = ["depends on the rank"]
# ///

# %% role="changes" id="model-fn"
# -    rate = params["learning_rate"] * hvd.size()
# +    rate = params["learning_rate"] * (hvd.rank() + 1)
