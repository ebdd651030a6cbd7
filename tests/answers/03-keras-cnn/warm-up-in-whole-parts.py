# /// answer
# title = "The share of the way is a whole number: no step until the end"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# warmed-up-tests = ["rate in step"]
# ///

# %% role="changes" id="warmed-up"
# -    return start + (rate - start) * step / num_warmup_steps
# +    return start + (rate - start) * (step // num_warmup_steps)
