# /// answer
# title = "The last global batch is kept, though it is not full"
#
# [fails]
# global-tests = ["shares of a global batch"]
# ///

# %% role="changes" id="global-batches"
# -    batches = numbers.batch(global_batch_size, drop_remainder=True)
# +    batches = numbers.batch(global_batch_size)
