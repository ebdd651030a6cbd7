# /// answer
# title = "The checkpoint is loaded, but fit begins with epoch 0"
#
# [fails]
# continued-tests = ["not completed"]
# ///

# %% role="changes" id="train"
# -    first_epoch = resume(network, folder)
# +    resume(network, folder)

# -        initial_epoch=first_epoch,
