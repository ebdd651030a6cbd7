# /// answer
# title = "With a global batch above the number of pictures an epoch has no step"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# elastic-tests = ["steps", "expected 1,"]
# ///

# %% role="changes" id="plan"
# -    num_steps = max(1, num_images // in_a_step)
# +    num_steps = num_images // in_a_step if global_batch_size else max(1, num_images // in_a_step)
