# /// answer
# title = "Only the gradient of the slope is averaged"
#
# [fails]
# horovod-average-tests = ["not averaged"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -            tape = hvd.DistributedGradientTape(tape)
#              gradients = tape.gradient(loss, variables)
# +            gradients = [hvd.allreduce(gradients[0]), gradients[1]]
