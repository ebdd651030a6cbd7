# /// answer
# title = "Early stopping comes before the metrics are averaged, so each rank decides alone"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# start-tests = ["was left alone in a collective: rank"]
# metrics-tests = ["left alone"]
# files-tests = ["left alone"]
# ///

# %% role="changes" id="make-callbacks"
#          hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
# +        tf.keras.callbacks.EarlyStopping(monitor="loss", patience=0),
