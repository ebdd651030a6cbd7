# /// answer
# title = "The rate grows with the ranks also when the global batch is fixed"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# elastic-tests = ["rate"]
# ///

# %% role="answer" id="plan"
def plan(num_images, batch_size, learning_rate, global_batch_size=0):
    batch_of_rank = global_batch_size // hvd.size() if global_batch_size else batch_size
    in_a_step = batch_of_rank * hvd.size()
    return batch_of_rank, learning_rate * hvd.size(), max(1, num_images // in_a_step)
