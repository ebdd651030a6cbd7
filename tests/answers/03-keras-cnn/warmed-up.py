# %% warm-up-by-local-size
# title = "Warm-up begins with the rate divided by the ranks of this node"
# fails.warmed-up-tests = ["rate in step"]
# consequences = ["train-tests", "continued-tests"]
# -    start = rate / hvd.size()
# +    start = rate / hvd.local_size()

# %% warm-up-from-zero
# title = "Warm-up begins with a rate of zero"
# fails.warmed-up-tests = ["step 0"]
# consequences = ["train-tests", "continued-tests"]
def warmed_up(step, rate, num_warmup_steps):
    if num_warmup_steps == 0:
        return rate
    return rate * min(1.0, step / num_warmup_steps)


# %% warm-up-in-whole-parts
# title = "The share of the way is a whole number: no step until the end"
# fails.warmed-up-tests = ["rate in step"]
# consequences = ["train-tests", "continued-tests"]
# -    return start + (rate - start) * step / num_warmup_steps
# +    return start + (rate - start) * (step // num_warmup_steps)


# %% warm-up-scales-again
# title = "Warm-up goes from the rate to the rate times the ranks, but the rate is scaled already"
# fails.warmed-up-tests = ["step 0"]
# consequences = ["train-tests", "continued-tests"]
def warmed_up(step, rate, num_warmup_steps):
    target = rate * hvd.size()
    if step >= num_warmup_steps:
        return target
    return rate + (target - rate) * step / num_warmup_steps


# %% warm-up-to-the-rate-of-one-rank
# title = "Warm-up ends at the rate of one rank"
# fails.warmed-up-tests = ["the rate in step"]
# consequences = ["train-tests", "continued-tests"]
# +    rate = rate / hvd.size()
#      if step >= num_warmup_steps:
