# /// answer
# title = "The notebook's num_ranks is taken for the world size in the rate"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# plan-tests = ["rate"]
# elastic-tests = ["rate"]
# ///

# %% role="changes" id="plan"
# -    return batch_of_rank, learning_rate * in_a_step / batch_size, num_steps
# +    return batch_of_rank, learning_rate * batch_of_rank * num_ranks / batch_size, num_steps
