# /// answer
# title = "The parameter compression instead of the entry of settings"
#
# [fails]
# train-tests = ["32 bits, not 16"]
# ///

# %% role="changes" id="train"
# -        make_optimizer(rate, settings["compression"]),
# +        make_optimizer(rate, compression),
