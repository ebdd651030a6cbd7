# /// answer
# title = "The learning rate times rank + 1"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# plan-tests = ["all ranks must agree"]
# elastic-tests = ["all ranks must agree"]
# ///

# %% role="answer" id="plan"
def plan(num_images, batch_size, learning_rate, global_batch_size=0):
    batch_of_rank = global_batch_size // hvd.size() if global_batch_size else batch_size
    in_a_step = batch_of_rank * hvd.size()
    num_steps = max(1, num_images // in_a_step)
    return batch_of_rank, learning_rate * (hvd.rank() + 1) * batch_of_rank / batch_size, num_steps
