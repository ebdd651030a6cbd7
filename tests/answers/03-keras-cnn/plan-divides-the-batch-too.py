# /// answer
# title = "The rate is scaled and the batch is divided as well"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# plan-tests = ["the batch of a rank"]
# ///

# %% role="changes" id="plan"
#      num_steps = max(1, num_images // in_a_step)
# +    batch_of_rank = batch_of_rank if global_batch_size else max(1, batch_size // hvd.size())
