# %% warm-up-by-local-size
# title = "Warm-up begins with the rate divided by the ranks of this node"
# fails.warmed-up-tests = ["warm-up.wrong-rate"]
# consequences = ["train-tests", "continued-tests"]
# -    start = rate / hvd.size()
# +    start = rate / hvd.local_size()

# %% warm-up-scales-again
# title = "Warm-up goes from the rate to the rate times the ranks, but the rate is scaled already"
# fails.warmed-up-tests = ["warm-up.wrong-rate"]
# consequences = ["train-tests", "continued-tests"]
def warmed_up(step, rate, num_warmup_steps):
    target = rate * hvd.size()
    if step >= num_warmup_steps:
        return target
    return rate + (target - rate) * step / num_warmup_steps


# %% warm-up-to-the-rate-of-one-rank
# title = "Warm-up ends at the rate of one rank"
# fails.warmed-up-tests = ["warm-up.wrong-rate"]
# consequences = ["train-tests", "continued-tests"]
# +    rate = rate / hvd.size()
#      if step >= num_warmup_steps:
