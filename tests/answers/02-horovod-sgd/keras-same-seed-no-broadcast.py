# /// answer
# title = "No broadcast, but the same seed on every rank: equal by luck"
#
# [fails]
# keras-start-tests = ["not broadcast"]
# ///

# %% role="changes" id="train-keras"
#      pin_gpu()
# +    tf.keras.utils.set_random_seed(1)

# -    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), trajectory]
# +    callbacks = [trajectory]
