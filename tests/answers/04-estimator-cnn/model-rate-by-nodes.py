# /// answer
# title = "The rate times the number of nodes"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# model-rate-tests = ["learning rate"]
# ///

# %% role="changes" id="model-fn"
# -    rate = params["learning_rate"] * hvd.size()
# +    rate = params["learning_rate"] * hvd.cross_size()
