# /// answer
# title = "The rate is divided by ten after thirty epochs"
#
# [fails]
# keras-rate-tests = ["plain SGD"]
# ///

# %% role="changes" id="train-keras"
# -    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), trajectory]
# +    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0), trajectory]
# +    callbacks.append(tf.keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 10 if epoch == 30 else rate))
