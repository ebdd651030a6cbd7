# /// answer
# title = "The network is called without a mode, which means evaluation"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# model-modes-tests = ["without training=True"]
# model-average-tests = []
# model-rate-tests = []
# model-updates-tests = []
# ///

# %% role="changes" id="model-fn"
# -    logits = network(features, training=training)
# +    logits = network(features, training=False)
