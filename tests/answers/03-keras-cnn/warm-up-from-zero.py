# /// answer
# title = "Warm-up begins with a rate of zero"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# warmed-up-tests = ["step 0"]
# ///

# %% role="answer" id="warmed-up"
def warmed_up(step, rate, num_warmup_steps):
    if num_warmup_steps == 0:
        return rate
    return rate * min(1.0, step / num_warmup_steps)
