# /// answer
# title = "One step more than whole batches: too many where they are all full"
#
# [fails]
# steps-tests = ["largest share"]
# ///

# %% role="changes" id="equal-steps"
# -    num_steps = -(-num_most // batch_size)  # rounded up
# +    num_steps = num_most // batch_size + 1
