# /// answer
# title = "Only the loss is averaged, not the gradients"
#
# [fails]
# horovod-average-tests = ["not averaged"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -            tape = hvd.DistributedGradientTape(tape)
# +            hvd.allreduce(loss)
