# /// answer
# title = "Leaves out the last global batch, also where it is full"
#
# [fails]
# global-tests = ["steps of an epoch with 36 samples"]
# ///

# %% role="changes" id="global-batches"
# -    batches = numbers.batch(global_batch_size, drop_remainder=True)
# +    batches = numbers.batch(global_batch_size).take((num_samples - 1) // global_batch_size)
