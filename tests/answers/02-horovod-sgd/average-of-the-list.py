# /// answer
# title = "The whole list is handed to one allreduce"
#
# [fails]
# average-tests = ["call it for each of the gradients"]
# ///

# %% role="answer" id="average"
def average(gradients):
    return hvd.allreduce(gradients)
