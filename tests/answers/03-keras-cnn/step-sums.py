# /// answer
# title = "The tape sums the gradients of all ranks"
#
# [fails]
# make-step-tests = ["summed"]
# ///

# %% role="changes" id="make-step"
# -        tape = hvd.DistributedGradientTape(tape)
# +        tape = hvd.DistributedGradientTape(tape, op=hvd.Sum)
