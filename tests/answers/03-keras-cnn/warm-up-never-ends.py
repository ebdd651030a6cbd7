# /// answer
# title = "The rate goes on rising after the warm-up"
# verdict = "wrong"
#
# [fails]
# warmed-up-tests = ["step 21"]
# train-tests = ["learning rate"]
# continued-tests = []
# ///

# %% role="answer" id="warmed-up"
def warmed_up(step, rate, num_warmup_steps):
    if not num_warmup_steps:
        return rate
    start = rate / hvd.size()
    return start + (rate - start) * step / num_warmup_steps
