# /// answer
# title = "Training stops where the loss no longer falls"
#
# [fails]
# keras-shards-tests = ["32 epochs"]
# ///

# %% role="changes" id="train-keras"
# -    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), trajectory]
# +    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), trajectory]
# +    callbacks.append(tf.keras.callbacks.EarlyStopping(monitor="loss", patience=10))
