# /// answer
# title = "The learning rate times rank + 1"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# plan-tests = ["all ranks must agree"]
# elastic-tests = ["all ranks must agree"]
# ///

# %% role="changes" id="plan"
# -    return batch_of_rank, learning_rate * in_a_step / batch_size, num_steps
# +    return batch_of_rank, learning_rate * (hvd.rank() + 1) * batch_of_rank / batch_size, num_steps
