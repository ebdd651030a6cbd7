# /// answer
# title = "Two steps, as on two ranks"
#
# [fails]
# fit-tests = ["4 ranks, alpha"]
# ///

# %% role="changes" id="fit-link"
# -    num_steps = 2 * (num_ranks - 1)
# +    num_steps = 2
