# /// answer
# title = "The loss is averaged, the gradients are not"
#
# [fails]
# make-step-tests = ["not averaged"]
# ///

# %% role="changes" id="make-step"
# -        tape = hvd.DistributedGradientTape(tape)

# -        return loss
# +        return hvd.allreduce(loss)
