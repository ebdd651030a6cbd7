# /// answer
# title = "Only rank 0 averages the metrics, and waits for ever"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# start-tests = ["failed: "]
# metrics-tests = ["failed: "]
# files-tests = ["failed: "]
# ///

# %% role="changes" id="make-callbacks"
# -        hvd_keras.callbacks.MetricAverageCallback(),

#      if hvd.rank() == 0:
# +        callbacks.append(hvd_keras.callbacks.MetricAverageCallback())
