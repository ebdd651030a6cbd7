# /// answer
# title = "The parameter num_warmup_epochs instead of the entry of settings"
#
# [fails]
# train-tests = ["learning rate"]
# ///

# %% role="changes" id="train"
# -    warm_up = WarmUp(rate, num_steps * settings["num_warmup_epochs"])
# +    warm_up = WarmUp(rate, num_steps * num_warmup_epochs)
