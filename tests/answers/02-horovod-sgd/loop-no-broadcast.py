# /// answer
# title = "The loop does not broadcast: the ranks stay a constant distance apart"
#
# [fails]
# horovod-start-tests = ["not broadcast"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -    broadcast_start(variables)
