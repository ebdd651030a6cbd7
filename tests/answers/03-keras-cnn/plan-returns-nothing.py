# /// answer
# title = "The plan is printed, and not returned"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# plan-tests = ["plan returned None", "batch size, rate and steps"]
# elastic-tests = []
# ///

# %% role="changes" id="plan"
# -    return batch_of_rank, learning_rate * in_a_step / batch_size, num_steps
# +    print(batch_of_rank, learning_rate * in_a_step / batch_size, num_steps)
