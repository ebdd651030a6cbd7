# %% zero-decays
# title = "With a weight decay"
# fails.zero-tests = ["zero.settings"]
def make_zero(wrapped, rate):
    return ZeroRedundancyOptimizer(wrapped.parameters(), torch.optim.Adam, lr=rate, weight_decay=1e-4)


# %% zero-is-adam
# title = "Adam as it is: every rank holds all of the state"
# fails.zero-tests = ["zero.not-shared"]
def make_zero(wrapped, rate):
    return torch.optim.Adam(wrapped.parameters(), lr=rate)


# %% zero-of-sgd
# title = "The shares are updated by another optimiser than Adam"
# fails.zero-tests = ["zero.settings"]
def make_zero(wrapped, rate):
    return ZeroRedundancyOptimizer(wrapped.parameters(), torch.optim.SGD, lr=rate)


# %% zero-overlaps
# title = "With overlap_with_ddp, which needs a hook of DDP's"
# fails.zero-tests = ["answer.wrong-type"]
def make_zero(wrapped, rate):
    return ZeroRedundancyOptimizer(wrapped.parameters(), torch.optim.Adam, overlap_with_ddp=True, lr=rate)


# %% zero-rate-by-position
# title = "The rate is passed where a group of ranks is expected"
# fails.zero-tests = ["zero.rate-by-place"]
def make_zero(wrapped, rate):
    return ZeroRedundancyOptimizer(wrapped.parameters(), torch.optim.Adam, rate)


# %% zero-scaled-rate
# title = "The rate is scaled once more"
# fails.zero-tests = ["zero.scaled-rate"]
def make_zero(wrapped, rate):
    return ZeroRedundancyOptimizer(wrapped.parameters(), torch.optim.Adam, lr=rate * dist.get_world_size())


# %% zero-without-rate
# title = "The rate is not passed on"
# fails.zero-tests = ["zero.default-rate"]
def make_zero(wrapped, rate):
    return ZeroRedundancyOptimizer(wrapped.parameters(), torch.optim.Adam)
