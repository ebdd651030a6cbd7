# /// answer
# title = "Each rank broadcasts its own weights"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# start-tests = ["failed: "]
# metrics-tests = ["failed: "]
# files-tests = ["failed: "]
# ///

# %% role="changes" id="make-callbacks"
# -        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
# +        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(hvd.rank()),
