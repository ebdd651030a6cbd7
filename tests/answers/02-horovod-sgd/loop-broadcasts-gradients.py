# /// answer
# title = "The gradients of rank 0 are broadcast to all, not averaged"
#
# [fails]
# horovod-average-tests = ["broadcast, not averaged"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -            tape = hvd.DistributedGradientTape(tape)
# -            gradients = tape.gradient(loss, variables)
# +            gradients = [hvd.broadcast(gradient, root_rank=0) for gradient in tape.gradient(loss, variables)]
