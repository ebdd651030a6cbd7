# /// answer
# title = "The learning rate of one rank"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# model-rate-tests = ["not scaled"]
# ///

# %% role="changes" id="model-fn"
# -    rate = params["learning_rate"] * hvd.size()
# +    rate = params["learning_rate"]
