# /// answer
# title = "The rate is scaled once more"
#
# [fails]
# zero-tests = ["rate", "multiplied by the number of ranks"]
# ///

# %% role="answer" id="make-zero"
def make_zero(wrapped, rate):
    return ZeroRedundancyOptimizer(wrapped.parameters(), torch.optim.Adam, lr=rate * dist.get_world_size())
