# /// answer
# title = "The averages come out in reverse order"
#
# [fails]
# average-tests = ["that of gradient"]
# ///

# %% role="answer" id="average"
def average(gradients):
    return [hvd.allreduce(gradient) for gradient in gradients][::-1]
