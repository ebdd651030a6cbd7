# /// answer
# title = "The gradients are summed and the rate is scaled too"
#
# [fails]
# horovod-rate-tests = ["summed"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -            tape = hvd.DistributedGradientTape(tape)
# +            tape = hvd.DistributedGradientTape(tape, op=hvd.Sum)
