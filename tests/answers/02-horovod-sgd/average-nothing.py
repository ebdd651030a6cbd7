# /// answer
# title = "Every rank keeps its own gradients"
#
# [fails]
# average-tests = ["own gradient"]
# ///

# %% role="answer" id="average"
def average(gradients):
    return gradients
