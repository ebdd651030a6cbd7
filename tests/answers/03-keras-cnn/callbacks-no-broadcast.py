# /// answer
# title = "No broadcast of the start"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# start-tests = ["not broadcast"]
# ///

# %% role="changes" id="make-callbacks"
# -        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
