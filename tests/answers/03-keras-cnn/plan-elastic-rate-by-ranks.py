# /// answer
# title = "The rate grows with the ranks also when the global batch is fixed"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# elastic-tests = ["rate"]
# ///

# %% role="changes" id="plan"
# -    return batch_of_rank, learning_rate * in_a_step / batch_size, num_steps
# +    return batch_of_rank, learning_rate * hvd.size(), num_steps
