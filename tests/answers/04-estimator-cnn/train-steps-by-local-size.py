# /// answer
# title = "The steps are divided by the ranks of the node"
#
# [fails]
# train-steps-tests = ["expected 4, got 8"]
# train-continued-tests = []
# ///

# %% role="changes" id="train"
# -    num_steps = num_steps // hvd.size()
# +    num_steps = num_steps // hvd.local_size()
