# /// answer
# title = "The batch of the settings instead of the one of the plan"
#
# [fails]
# train-tests = ["pictures in the batches of a rank: expected 2, got [3]"]
# ///

# %% role="changes" id="train"
# -        make_dataset(train_files, batch_size, training=True),
# +        make_dataset(train_files, settings["batch_size"], training=True),
