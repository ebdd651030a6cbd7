# /// answer
# title = "max_num_steps has no effect"
#
# [fails]
# continued-tests = ["max_num_steps"]
# ///

# %% role="changes" id="train"
# -    num_steps = min(num_steps, settings["max_num_steps"] or num_steps)
