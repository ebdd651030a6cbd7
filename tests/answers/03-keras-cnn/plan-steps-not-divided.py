# /// answer
# title = "An epoch has as many steps as with one rank"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# plan-tests = ["steps"]
# elastic-tests = ["steps"]
# ///

# %% role="changes" id="plan"
# -    num_steps = max(1, num_images // in_a_step)
# +    num_steps = max(1, num_images // batch_of_rank)
