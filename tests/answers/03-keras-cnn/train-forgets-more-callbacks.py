# /// answer
# title = "The callbacks of the caller are not handed on"
#
# [fails]
# train-tests = ["more_callbacks"]
# ///

# %% role="changes" id="train"
# -        callbacks=[*make_callbacks(folder), warm_up, *more_callbacks],
# +        callbacks=[*make_callbacks(folder), warm_up],
