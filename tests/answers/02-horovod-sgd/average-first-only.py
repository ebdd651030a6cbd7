# /// answer
# title = "Only the slope's gradient is averaged"
#
# [fails]
# average-tests = ["own gradient 1"]
# ///

# %% role="answer" id="average"
def average(gradients):
    return [hvd.allreduce(gradients[0])] + list(gradients[1:])
