# /// answer
# title = "Warm-up goes from the rate to the rate times the ranks, but the rate is scaled already"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# warmed-up-tests = ["step 0"]
# ///

# %% role="answer" id="warmed-up"
def warmed_up(step, rate, num_warmup_steps):
    target = rate * hvd.size()
    if step >= num_warmup_steps:
        return target
    return rate + (target - rate) * step / num_warmup_steps
