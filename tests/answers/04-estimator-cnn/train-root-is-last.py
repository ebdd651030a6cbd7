# /// answer
# title = "The last rank sends its weights to all"
#
# [fails]
# train-continued-tests = ["no checkpoint"]
# ///

# %% role="changes" id="train"
# -            hooks=[hvd.BroadcastGlobalVariablesHook(0), *hooks],
# +            hooks=[hvd.BroadcastGlobalVariablesHook(hvd.size() - 1), *hooks],
