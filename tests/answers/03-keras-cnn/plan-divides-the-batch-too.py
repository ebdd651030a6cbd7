# /// answer
# title = "The rate is scaled and the batch is divided as well"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# plan-tests = ["the batch of a rank"]
# ///

# %% role="answer" id="plan"
def plan(num_images, batch_size, learning_rate, global_batch_size=0):
    batch_of_rank = global_batch_size // hvd.size() if global_batch_size else batch_size
    in_a_step = batch_of_rank * hvd.size()
    num_steps = max(1, num_images // in_a_step)
    return (
        (batch_of_rank if global_batch_size else max(1, batch_size // hvd.size())),
        learning_rate * in_a_step / batch_size,
        num_steps,
    )
