# /// answer
# title = "Every rank trains alone and the parameters are averaged once at the end"
#
# [fails]
# horovod-average-tests = ["not averaged"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -            tape = hvd.DistributedGradientTape(tape)

#              history.append([float(slope.numpy()), float(offset.numpy())])
# +    history[-1] = [float(hvd.allreduce(slope).numpy()), float(hvd.allreduce(offset).numpy())]
