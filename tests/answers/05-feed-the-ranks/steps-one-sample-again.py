# /// answer
# title = "The first sample fills up what is missing"
#
# [fails]
# steps-tests = ["another"]
# ///

# %% role="changes" id="equal-steps"
# -    return dataset.repeat().batch(batch_size).take(num_steps)
# +    first = dataset.take(1).repeat()
# +    return dataset.concatenate(first).batch(batch_size).take(num_steps)
