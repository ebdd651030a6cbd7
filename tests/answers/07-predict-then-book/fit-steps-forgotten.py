# /// answer
# title = "One step in place of 2(N - 1)"
#
# [fails]
# fit-tests = ["all steps together"]
# ///

# %% role="changes" id="fit-link"
# -    num_steps = 2 * (num_ranks - 1)
# +    num_steps = 1
