# /// answer
# title = "Nothing is broadcast"
#
# [fails]
# train-start-tests = ["not broadcast"]
# train-continued-tests = []
# ///

# %% role="changes" id="train"
# -            hooks=[hvd.BroadcastGlobalVariablesHook(0), *hooks],
# +            hooks=list(hooks),
