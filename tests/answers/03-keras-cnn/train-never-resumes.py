# /// answer
# title = "A new training begins whatever is in the folder"
#
# [fails]
# continued-tests = ["not completed"]
# ///

# %% role="changes" id="train"
# -    first_epoch = resume(network, folder)

# -        initial_epoch=first_epoch,
