# /// answer
# title = "The last steps of an epoch are counted, too"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# plan-tests = ["steps"]
# ///

# %% role="changes" id="plan"
# -    num_steps = max(1, num_images // in_a_step)
# +    num_steps = max(1, -(-num_images // in_a_step)) if not global_batch_size else max(1, num_images // in_a_step)
