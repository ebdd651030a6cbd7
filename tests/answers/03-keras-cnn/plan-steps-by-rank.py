# /// answer
# title = "Each rank plans the steps of its own share, the last one with the rest"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# plan-tests = ["ranks"]
# ///

# %% role="changes" id="plan"
#      num_steps = max(1, num_images // in_a_step)
# +    own = len(range(hvd.rank(), num_images, hvd.size()))  # shares differ by one picture
# +    num_steps = num_steps if global_batch_size else max(1, -(-own // batch_of_rank))
