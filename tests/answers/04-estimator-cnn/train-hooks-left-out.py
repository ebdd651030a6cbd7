# /// answer
# title = "Hooks that are given are not passed on"
#
# [fails]
# train-config-tests = ["hooks"]
# ///

# %% role="changes" id="train"
# -            hooks=[hvd.BroadcastGlobalVariablesHook(0), *hooks],
# +            hooks=[hvd.BroadcastGlobalVariablesHook(0)],
