# /// answer
# title = "The gradients are averaged in every fourth step only"
#
# [fails]
# horovod-average-tests = ["not averaged"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -            tape = hvd.DistributedGradientTape(tape)
#              gradients = tape.gradient(loss, variables)
# +            if len(history) % 4 == 0:
# +                gradients = [hvd.allreduce(gradient) for gradient in gradients]
