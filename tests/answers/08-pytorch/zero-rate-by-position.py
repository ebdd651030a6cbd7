# /// answer
# title = "The rate is passed where a group of ranks is expected"
#
# [fails]
# zero-tests = ["lr=rate"]
# ///

# %% role="answer" id="make-zero"
def make_zero(wrapped, rate):
    return ZeroRedundancyOptimizer(wrapped.parameters(), torch.optim.Adam, rate)
