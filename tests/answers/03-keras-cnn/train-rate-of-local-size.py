# /// answer
# title = "The rate is that of the ranks of a node"
#
# [fails]
# train-tests = ["depends on the rank"]
# continued-tests = []
# ///

# %% role="changes" id="train"
#      num_steps = min(num_steps, settings["max_num_steps"] or num_steps)
# +    rate *= hvd.local_size() / hvd.size()
