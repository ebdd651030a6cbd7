# /// answer
# title = "The rate times the ranks of the node: right on one node only"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# model-rate-tests = ["learning rate"]
# ///

# %% role="changes" id="model-fn"
# -    rate = params["learning_rate"] * hvd.size()
# +    rate = params["learning_rate"] * hvd.local_size()
