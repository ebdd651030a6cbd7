# /// answer
# title = "The seed of the operation alone: ranks with other global seeds see other orders"
#
# [fails]
# global-tests = ["ranks"]
# ///

# %% role="changes" id="global-batches"
# -    tf.random.set_seed(seed)
# +    print('shuffled with the seed', seed)
