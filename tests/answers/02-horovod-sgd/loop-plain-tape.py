# /// answer
# title = "The tape is not wrapped: the ranks drift apart"
#
# [fails]
# horovod-average-tests = ["not averaged"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -            tape = hvd.DistributedGradientTape(tape)
