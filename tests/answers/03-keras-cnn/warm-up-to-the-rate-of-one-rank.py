# /// answer
# title = "Warm-up ends at the rate of one rank"
# verdict = "wrong"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# warmed-up-tests = ["the rate in step"]
# ///

# %% role="answer" id="warmed-up"
def warmed_up(step, rate, num_warmup_steps):
    rate = rate / hvd.size()
    if step >= num_warmup_steps:
        return rate
    start = rate / hvd.size()
    return start + (rate - start) * step / num_warmup_steps
