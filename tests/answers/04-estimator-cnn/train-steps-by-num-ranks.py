# /// answer
# title = "The steps are divided by the notebook's number of ranks"
#
# [fails]
# train-steps-tests = ["expected 4, got 8"]
# train-continued-tests = []
# ///

# %% role="changes" id="train"
# -    num_steps = num_steps // hvd.size()
# +    num_steps = num_steps // num_ranks
