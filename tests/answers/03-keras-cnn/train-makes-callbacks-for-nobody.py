# /// answer
# title = "The callbacks are made and not passed to fit"
#
# [fails]
# train-tests = ["differs from that of rank 0"]
# continued-tests = []
# ///

# %% role="changes" id="train"
# +    make_callbacks(folder)
#      first_epoch = resume(network, folder)

# -        callbacks=[*make_callbacks(folder), warm_up, *more_callbacks],
# +        callbacks=[warm_up, *more_callbacks],
