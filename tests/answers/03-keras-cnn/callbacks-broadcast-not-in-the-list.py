# /// answer
# title = "The broadcast callback is made, but fit never gets it"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# start-tests = ["not broadcast"]
# ///

# %% role="changes" id="make-callbacks"
# +    hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0)
#      callbacks = [
# -        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
