# /// answer
# title = "max_num_steps, where it is given, in place of the steps of the plan"
#
# [fails]
# train-tests = ["the most steps of an epoch"]
# ///

# %% role="changes" id="train"
# -    num_steps = min(num_steps, settings["max_num_steps"] or num_steps)
# +    num_steps = settings["max_num_steps"] or num_steps
