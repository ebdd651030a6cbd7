# /// answer
# title = "The rate is not passed on"
#
# [fails]
# zero-tests = ["rate of the optimiser", "pass the rate on"]
# ///

# %% role="answer" id="make-zero"
def make_zero(wrapped, rate):
    return ZeroRedundancyOptimizer(wrapped.parameters(), torch.optim.Adam)
