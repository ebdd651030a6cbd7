# /// answer
# title = "The warm-up callback is forgotten"
#
# [fails]
# train-tests = ["learning rate"]
# ///

# %% role="changes" id="train"
# -    warm_up = WarmUp(rate, num_steps * settings["num_warmup_epochs"])

# -        callbacks=[*make_callbacks(folder), warm_up, *more_callbacks],
# +        callbacks=[*make_callbacks(folder), *more_callbacks],
