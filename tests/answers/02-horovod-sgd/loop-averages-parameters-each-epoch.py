# /// answer
# title = "Parameters are averaged at the end of each epoch, and no gradients"
#
# [fails]
# horovod-average-tests = ["not averaged"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -            tape = hvd.DistributedGradientTape(tape)

#              history.append([float(slope.numpy()), float(offset.numpy())])
# +        for variable in variables:
# +            variable.assign(hvd.allreduce(variable))
# +        history[-1] = [float(slope.numpy()), float(offset.numpy())]
