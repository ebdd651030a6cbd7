# /// answer
# title = "An epoch has as many steps as with one rank"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# plan-tests = ["steps"]
# elastic-tests = ["steps"]
# ///

# %% role="answer" id="plan"
def plan(num_images, batch_size, learning_rate, global_batch_size=0):
    batch_of_rank = global_batch_size // hvd.size() if global_batch_size else batch_size
    in_a_step = batch_of_rank * hvd.size()
    return batch_of_rank, learning_rate * in_a_step / batch_size, max(1, num_images // batch_of_rank)
