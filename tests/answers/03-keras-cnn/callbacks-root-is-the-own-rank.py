# /// answer
# title = "Each rank broadcasts its own weights"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# start-tests = ["did not end well"]
# metrics-tests = ["did not end well"]
# files-tests = ["did not end well"]
# ///

# %% role="changes" id="make-callbacks"
# -        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
# +        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(hvd.rank()),
