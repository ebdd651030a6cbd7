# /// answer
# title = "The network runs in training mode in every mode, as in 2019"
# consequences = ["train-start-tests", "train-shards-tests", "train-steps-tests", "train-config-tests", "train-continued-tests"]
#
# [fails]
# model-modes-tests = ["training=True"]
# ///

# %% role="changes" id="model-fn"
# -    logits = network(features, training=training)
# +    logits = network(features, training=True)
