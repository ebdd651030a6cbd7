# /// answer
# title = "The gradients are added up"
#
# [fails]
# average-tests = ["summed"]
# ///

# %% role="answer" id="average"
def average(gradients):
    return [hvd.allreduce(gradient, op=hvd.Sum) for gradient in gradients]
