# /// answer
# title = "Only rank 0 averages the metrics, and waits for the others"
#
# [fails]
# train-tests = ["compiled TensorFlow step"]
# logs-tests = ["deadlock"]
# ///

# %% role="changes" id="train"
# -    callbacks = [
# -        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
# -        hvd_keras.callbacks.MetricAverageCallback(),
# -    ]
# +    callbacks = [hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0)]
# +    if hvd.rank() == 0:
# +        callbacks.append(hvd_keras.callbacks.MetricAverageCallback())
