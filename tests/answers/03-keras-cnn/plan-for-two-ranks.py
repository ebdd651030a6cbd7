# /// answer
# title = "The world size is typed in"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# plan-tests = ["rate"]
# elastic-tests = ["pictures"]
# ///

# %% role="answer" id="plan"
def plan(num_images, batch_size, learning_rate, global_batch_size=0):
    batch_of_rank = global_batch_size // 2 if global_batch_size else batch_size
    in_a_step = batch_of_rank * 2
    return batch_of_rank, learning_rate * in_a_step / batch_size, max(1, num_images // in_a_step)
