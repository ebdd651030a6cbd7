# /// answer
# title = "One seed for all ranks instead of a broadcast"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# start-tests = ["not broadcast"]
# ///

# %% role="changes" id="make-callbacks"
# +    tf.keras.utils.set_random_seed(seed)
#      callbacks = [
# -        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
