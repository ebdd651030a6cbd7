# /// answer
# title = "Each rank takes the whole global batch"
# verdict = "wrong"
#
# [fails]
# elastic-tests = ["each rank takes"]
# ///

# %% role="answer" id="plan"
def plan(num_images, batch_size, learning_rate, global_batch_size=0):
    batch_of_rank = global_batch_size or batch_size
    in_a_step = batch_of_rank * hvd.size()
    return batch_of_rank, learning_rate * in_a_step / batch_size, max(1, num_images // in_a_step)
