# /// answer
# title = "The warm-up is given its epochs, and counts steps"
#
# [fails]
# train-tests = ["the learning rate of a step", "warm-up"]
# ///

# %% role="changes" id="train"
# -    warm_up = WarmUp(rate, num_steps * settings["num_warmup_epochs"])
# +    warm_up = WarmUp(rate, settings["num_warmup_epochs"])
