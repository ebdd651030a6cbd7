# /// answer
# title = "The limit of the data of this notebook, typed in"
#
# [fails]
# max-num-ranks-tests = ["the most"]
# ///

# %% role="answer" id="max-num-ranks"
def max_num_ranks(x, learning_rate):
    return int(1.0 / learning_rate)
