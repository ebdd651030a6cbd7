# /// answer
# title = "A little weight decay is added, as for a network"
#
# [fails]
# horovod-serial-tests = ["weight decay"]
# ///

# %% role="changes" id="train-horovod"
#              gradients = tape.gradient(loss, variables)
# +            gradients = [gradient + 1e-4 * variable for gradient, variable in zip(gradients, variables)]
