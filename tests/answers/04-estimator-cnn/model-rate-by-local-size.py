# /// answer
# title = "The rate times the ranks of the node: right on one node only"
#
# [fails]
# model-rate-tests = ["learning rate"]
# ///

# %% role="changes" id="model-fn"
# -    rate = params["learning_rate"] * hvd.size()
# +    rate = params["learning_rate"] * hvd.local_size()
