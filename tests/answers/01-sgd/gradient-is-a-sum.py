# /// answer
# title = "The derivatives are added up, not averaged: right with another learning rate, and so is what follows"
#
# [fails]
# gradient-tests = ["summed"]
# ///

# %% role="changes" id="gradient"
# -    return np.mean(2 * errors * x), np.mean(2 * errors)
# +    return np.sum(2 * errors * x), np.sum(2 * errors)
