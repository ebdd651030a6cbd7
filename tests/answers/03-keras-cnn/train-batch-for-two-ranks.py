# /// answer
# title = "The pictures of an epoch are divided by the notebook's num_ranks"
#
# [fails]
# train-tests = ["steps in 2 epochs"]
# ///

# %% role="changes" id="train"
# +    num_images = num_images * hvd.size() // num_ranks
#      batch_size, rate, num_steps = plan(
