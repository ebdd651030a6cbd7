# /// answer
# title = "The learning rate times the rank: rank 0 stands still"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# plan-tests = ["all ranks must agree"]
# elastic-tests = ["all ranks must agree"]
# ///

# %% role="changes" id="plan"
# -    return batch_of_rank, learning_rate * in_a_step / batch_size, num_steps
# +    return batch_of_rank, learning_rate * hvd.rank() * batch_of_rank / batch_size, num_steps
