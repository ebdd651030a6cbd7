# /// answer
# title = "Nobody thought of a training without warm-up"
# verdict = "wrong"
#
# [fails]
# warmed-up-tests = ["ZeroDivisionError"]
# ///

# %% role="answer" id="warmed-up"
def warmed_up(step, rate, num_warmup_steps):
    start = rate / hvd.size()
    return start + (rate - start) * min(1, step / num_warmup_steps)
