# /// answer
# title = "The epochs are divided among the ranks, on top of the data"
#
# [fails]
# horovod-serial-tests = ["steps"]
# horovod-shards-tests = ["steps in all"]
# ///

# %% role="changes" id="train-horovod"
# -    for _ in range(num_epochs):
# +    for _ in range(num_epochs // hvd.size()):
