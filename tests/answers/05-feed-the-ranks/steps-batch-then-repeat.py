# /// answer
# title = "Batched before it is repeated: the last batch of each round is smaller"
#
# [fails]
# steps-tests = ["expected 4"]
# ///

# %% role="changes" id="equal-steps"
# -    return dataset.repeat().batch(batch_size).take(num_steps)
# +    return dataset.batch(batch_size).repeat().take(num_steps)
