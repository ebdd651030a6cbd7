# /// answer
# title = "compile gets the name of an optimiser instead of the one that averages"
#
# [fails]
# train-tests = ["not those of SGD"]
# continued-tests = []
# ///

# %% role="changes" id="train"
# -        make_optimizer(rate, settings["compression"]),
# +        "sgd",
