# /// answer
# title = "The steps are divided by the ranks of the node"
# consequences = ["train-shards-tests"]
#
# [fails]
# train-steps-tests = ["did not end well"]
# ///

# %% role="changes" id="train"
# -    num_steps = num_steps // hvd.size()
# +    num_steps = num_steps // hvd.local_size()
