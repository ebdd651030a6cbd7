# /// answer
# title = "Early stopping comes before the metrics are averaged, so each rank decides alone"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# start-tests = ["failed in a collective: rank"]
# metrics-tests = ["failed in a collective"]
# files-tests = ["failed in a collective"]
# ///

# %% role="changes" id="make-callbacks"
#          hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
# +        tf.keras.callbacks.EarlyStopping(monitor="loss", patience=0),
