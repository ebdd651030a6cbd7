# /// answer
# title = "The weights of the last rank go to all"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# start-tests = ["weights of rank 2"]
# ///

# %% role="changes" id="make-callbacks"
# -        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
# +        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(hvd.size() - 1),
