# /// answer
# title = "Rounded down: the end of the largest share is lost"
#
# [fails]
# steps-tests = ["largest share"]
# ///

# %% role="changes" id="equal-steps"
# -    num_steps = -(-num_most // batch_size)  # rounded up
# +    num_steps = num_most // batch_size
