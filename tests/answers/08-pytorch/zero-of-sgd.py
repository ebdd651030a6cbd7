# /// answer
# title = "The shares are updated by another optimiser than Adam"
#
# [fails]
# zero-tests = ["updated by SGD"]
# ///

# %% role="answer" id="make-zero"
def make_zero(wrapped, rate):
    return ZeroRedundancyOptimizer(wrapped.parameters(), torch.optim.SGD, lr=rate)
