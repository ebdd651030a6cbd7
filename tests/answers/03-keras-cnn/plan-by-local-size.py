# /// answer
# title = "The ranks of this node are taken for all ranks"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# plan-tests = ["rate"]
# elastic-tests = ["picture"]
# ///

# %% role="answer" id="plan"
def plan(num_images, batch_size, learning_rate, global_batch_size=0):
    batch_of_rank = global_batch_size // hvd.local_size() if global_batch_size else batch_size
    in_a_step = batch_of_rank * hvd.local_size()
    return batch_of_rank, learning_rate * in_a_step / batch_size, max(1, num_images // in_a_step)
