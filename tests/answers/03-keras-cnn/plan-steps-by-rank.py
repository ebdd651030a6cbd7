# /// answer
# title = "Each rank plans the steps of its own share, the last one with the rest"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# plan-tests = ["ranks"]
# ///

# %% role="answer" id="plan"
def plan(num_images, batch_size, learning_rate, global_batch_size=0):
    batch_of_rank = global_batch_size // hvd.size() if global_batch_size else batch_size
    in_a_step = batch_of_rank * hvd.size()
    num_steps = max(1, num_images // in_a_step)
    own = len(range(hvd.rank(), num_images, hvd.size()))  # shares differ by one picture
    num_steps = num_steps if global_batch_size else max(1, -(-own // batch_of_rank))
    return batch_of_rank, learning_rate * in_a_step / batch_size, num_steps
