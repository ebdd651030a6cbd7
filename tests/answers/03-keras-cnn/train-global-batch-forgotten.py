# /// answer
# title = "The plan is not told of the global batch"
#
# [fails]
# train-tests = ["pictures in the batches"]
# ///

# %% role="changes" id="train"
# -        num_images, settings["batch_size"], settings["learning_rate"], settings["global_batch_size"]
# +        num_images, settings["batch_size"], settings["learning_rate"]
