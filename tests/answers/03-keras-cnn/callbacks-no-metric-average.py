# /// answer
# title = "Every rank reports its own loss"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# metrics-tests = ["not averaged"]
# ///

# %% role="changes" id="make-callbacks"
# -        hvd_keras.callbacks.MetricAverageCallback(),
