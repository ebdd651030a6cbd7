# /// answer
# title = "The rate stays that of one rank"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# plan-tests = ["rate"]
# elastic-tests = ["rate"]
# ///

# %% role="changes" id="plan"
# -    return batch_of_rank, learning_rate * in_a_step / batch_size, num_steps
# +    return batch_of_rank, learning_rate, num_steps
